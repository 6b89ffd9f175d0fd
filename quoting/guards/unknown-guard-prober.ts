import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { boundedCallsOnce, type ChainTarget } from '../../chain/isolated-calls.ts';
import { OtherPart } from '../../chain/part-view.ts';
import type { ReadContext } from '../../chain/read-context.ts';
import { isBlockRefusal, RpcFailure } from '../../chain/rpc-failure.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { isRejection, type PoolCurve, type PoolSide } from '../../protocol/curve.ts';
import type { ExecutableLevels, TradingSides } from '../../protocol/depth.ts';
import { ascending, limitOf, type ProbedInput, probedInput, withinBudget } from '../../protocol/guards/probe-points.ts';
import { executableLevels } from '../../protocol/guards/side-claim.ts';
import { likelyGasOf, type SimulatedSwap, simulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import { filledSwap } from '../../protocol/pool-errors.ts';
import { type FillCurve, fillCurve } from '../../protocol/routing/fill-curve.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { failureCode, SnapshotError } from '../snapshot-error.ts';
import { EndSearch, type SearchedSide } from './end-search.ts';
import { isShort } from './short-fill.ts';

/** A healthy pool with guards, and the curve that it would trade without them. */
export interface GuardedCurve {
  readonly pool: ServedPool;
  readonly curve: PoolCurve;
  /** What its stop loss answered at the block. Absent: that is to be read. */
  readonly stopLoss?: readonly CallResult[] | undefined;
  /** Swaps of it that were simulated at the block. */
  readonly simulated?: readonly SimulatedSwap[] | undefined;
}

/** Most gas and probes for one side of a pool. */
const SIDE = { gas: 44_000_000, probes: 140 };
/** For this long a pool whose guards burn all the gas is not probed again. */
const BURNED_MS = 60_000;
/** How many of these pools are remembered: those that burned the gas last. */
const MAX_POOLS = 10_000;
const CLOSED: TradingSides = { bids: null, asks: null };

/** Finds how far an unknown extension lets pools trade: it can reject by any rule, so points of each side are tried. */
export class UnknownGuardProber {
  readonly #target: ChainTarget;
  readonly #ends: EndSearch;
  /** Pools whose guards burn all the gas. One costs as much as a thousand honest pools: not every block probes it. */
  readonly #burnedOut = new LRUCache<Address, true>({ ...growingTo(MAX_POOLS), ttl: BURNED_MS });

  constructor(target: ChainTarget) {
    this.#target = target;
    this.#ends = new EndSearch(target);
  }

  /**
   * Probes a pool: one call a side, whatever the extension does, and two more for a side that it cuts, unless that ends
   * where it did.
   *
   * @throws SnapshotError; OtherPart when calls ran on another part of the block being built; RpcFailure when nodes do
   *   not have the block any more
   */
  async probe(context: ReadContext, { pool: { address }, curve }: GuardedCurve): Promise<TradingSides> {
    if (this.#burnedOut.has(address)) return CLOSED;
    const probeSide = (side: PoolSide) => this.#probeOnce({ ...context, pool: address, side });
    try {
      const [bids, asks] = await Promise.all([probeSide(curve.bids), probeSide(curve.asks)]);
      if (bids.isBurnedOut && asks.isBurnedOut) this.#burnedOut.set(address, true);
      return { bids: bids.levels, asks: asks.levels };
    } catch (error) {
      // Without the block, all that is read of it follows the chain to the next one.
      if (isBlockRefusal(error) && !context.block.pending) await this.#target.rpc.code(address, context);
      throw asProbeError(error);
    }
  }

  async #probeOnce(searched: SearchedSide): Promise<{ levels: ExecutableLevels; isBurnedOut: boolean }> {
    const { pool, side } = searched;
    const known = this.#ends.remembered(searched);
    const chosen = withinBudget(side, SIDE, (amount) => likelyGasOf(side, amount));
    const amounts = ascending([...chosen, ...(known?.inputs ?? [])]);
    const sent = known ? [...amounts, -known.output] : amounts;
    const swaps = sent.map((amount) => simulatedSwap(pool, side, amount, 'unknown'));
    const { results } = await boundedCallsOnce(this.#target, { ...searched, gas: BigInt(SIDE.gas) }, swaps);
    if (!results[0]) throw new SnapshotError('read_failed', `too little gas to simulate swaps of ${pool}`);
    const promises = fillCurve(side.levels, 'exact_in');
    const probed = amounts.map((amount, index) => {
      const each = probedInput(side, amount, results[index] ?? null);
      return amount > 0n ? kept(side, promises, each) : each;
    });
    const limit = limitOf(side, probed);
    const output = known && filledSwap(side, results.at(-1) ?? undefined)?.amountOut;
    const end = limit && limit.most > 0n ? await this.#ends.find(searched, limit, output === known?.output) : limit;
    return { levels: executableLevels(side, end), isBurnedOut: isBurnedOut(probed) };
  }
}

/** Counts a swap as rejected that gives less than the side promises. */
function kept(side: PoolSide, promises: FillCurve, probed: ProbedInput): ProbedInput {
  const fill = filledSwap(side, probed.result ?? undefined);
  return fill && isShort(promises, fill) ? { ...probed, outcome: 'refused' } : probed;
}

/** Whether even the smallest swap is rejected, and probes took so much gas that others did not run. */
const isBurnedOut = (probed: readonly ProbedInput[]): boolean =>
  isRejection(probed[0]?.outcome) && probed.some(({ outcome }) => outcome === null);

/**
 * Makes failed probes an error of their pool alone.
 *
 * @throws OtherPart, which concerns all pools; any other error: it is a defect
 */
export function asProbeError(error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  if (!(error instanceof RpcFailure) || error instanceof OtherPart) throw error;
  return new SnapshotError(failureCode(error), 'swaps of a guarded pool were not simulated', { cause: error });
}
