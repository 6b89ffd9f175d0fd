import type { Address } from 'viem';
import { isSameState } from '../../chain/pending-state.ts';
import { choosePools } from '../../protocol/routing/choose-pools.ts';
import { capacity, fillCurve, foundAt } from '../../protocol/routing/fill-curve.ts';
import { walkEstimates } from '../../protocol/routing/pool-candidate.ts';
import type { Candidate } from '../../quoting/depth-estimates.ts';
import { isOfEarlier, targetOf } from '../../quoting/live/target-block.ts';
import { frameHead } from '../../quoting/live/write-frame.ts';
import type { PoolDirectory, PoolTable, ServedPool } from '../../quoting/pools/pool-directory.ts';
import { BlockTooOldError, HeadReplacedError, SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot, SnapshotMap } from '../../quoting/types.ts';
import { ApiError, badRequest, unavailable } from '../errors.ts';
import { maxUnreadMs, NONE_MISSING, nextAwaited } from './next-awaited.ts';
import { type ChainState, type ReadAt, readDepths } from './one-state.ts';
import type { LevelsChain, ShownShape } from './write-levels.ts';

/** An exact input that a taker wants to swap in one pool. */
export interface TakerOrder {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Raw units, above 0. */
  readonly amountIn: bigint;
  /** A pool, or a router of pools. Null: any pool that trades with anyone. */
  readonly venue: Address | null;
}

export interface TakerQuotesDeps extends Pick<ShownShape, 'now' | 'stamp'> {
  readonly chain: LevelsChain;
  readonly directory: PoolDirectory;
}

/** Most pools that are ranked, and what is read of them: a simulated one counts as five, and a pair takes a quarter. */
const MAX_RANKED = 50;
const MAX_READS = { keyed: 50, anonymous: 24 };

/** What one pool gives. */
interface Fill {
  readonly snapshot: DepthSnapshot;
  readonly amountOut: bigint;
}

/** What the best pool of a chain gives for an exact input, by the levels that quotes show. */
export class TakerQuotes {
  readonly #deps: TakerQuotesDeps;
  /** Pools that nodes do not give. */
  #missing = NONE_MISSING;

  constructor(deps: TakerQuotesDeps) {
    this.#deps = deps;
  }

  /**
   * Prepares a quote in the form of builders.
   *
   * @param byKey whether the client has a key
   * @returns reads it at a state, as one JSON text; throws ApiError 422 when no pool has the depth, 503 when pools that
   * might have it, or are expected to give more, cannot be read
   * @throws ApiError 400 when the venue has other tokens, 422 when no pool has them, PoolsUnknownError
   */
  async prepare(order: TakerOrder, byKey: boolean): Promise<ReadAt<string>> {
    const { chain, directory } = this.#deps;
    const candidates = await this.#candidates(await directory.table(), order, byKey);
    if (candidates.length === 0) {
      const pools = order.venue ? 'venue is neither a served pool nor a router whose pools trade' : 'no pool trades';
      throw noQuote('no_route', `${pools} tokenIn for tokenOut`);
    }
    const pools = candidates.map(({ pool }) => pool);
    return async (state) => {
      const { head, quotes } = state;
      const snapshots = await readDepths(state, pools);
      if (snapshots.values().some((each) => each instanceof HeadReplacedError)) return null;
      chain.estimates.observe(pools, snapshots);
      const best = bestOf(candidates, snapshots, order.amountIn);
      if (!best)
        throw missingData(snapshots) ?? noQuote('insufficient_liquidity', 'no pool has the depth for amountIn');
      const awaited = this.#awaited(state, pools, snapshots);
      const better = candidates.find((each) => awaited(each.pool) && mayGive(each, order.amountIn) > best.amountOut);
      if (better) throw unreadPool(snapshots.get(better.pool.address));
      const { pool, block } = best.snapshot;
      if (block.pending && !isSameState(block, head.block)) return null;
      quotes.requested.markRequested([pool], 'depths', byKey);
      const madeAt = await this.#deps.stamp();
      const target = targetOf(head.block, chain);
      if (isOfEarlier(block, target)) return null;
      const quoteHead = frameHead('builder', chain.chainId, target, madeAt);
      return `{${quoteHead},${fieldsOf(order, pool, best.amountOut)}}`;
    };
  }

  /** Says of a pool whether its read failed, and a quote waits for it: not for one that nodes do not give for long. */
  #awaited(
    { head: { block }, quotes }: ChainState,
    served: readonly ServedPool[],
    snapshots: SnapshotMap<DepthSnapshot>,
  ): (pool: ServedPool) => boolean {
    const { chain, now } = this.#deps;
    const pools = served.map((pool) => ({
      pool: pool.address,
      outcome: snapshots.get(pool.address),
      isBeingRead: quotes.snapshots.isRead(pool, 'depths'),
    }));
    const [missing, { unread }] = nextAwaited(this.#missing, { block, pools }, now(), maxUnreadMs(chain));
    this.#missing = missing;
    const failures = new Set(unread);
    return ({ address }) => {
      const outcome = snapshots.get(address);
      return outcome instanceof SnapshotError && failures.has(outcome);
    };
  }

  /** The pools to compare, in one direction. @throws ApiError 400, 422 */
  async #candidates(table: PoolTable, order: TakerOrder, byKey: boolean): Promise<readonly Candidate[]> {
    const { estimates, chainId } = this.#deps.chain;
    const { tokenIn, tokenOut, venue, amountIn } = order;
    const named = venue && table.find(chainId, venue);
    if (named) {
      const tokens = [named.token0.address, named.token1.address];
      if (!tokens.includes(tokenIn) || !tokens.includes(tokenOut))
        throw badRequest('venue is not a pool of tokenIn and tokenOut');
      return [estimates.describe(named, named.token0.address === tokenIn)];
    }
    const pair = { tokenIn, tokenOut, tradeType: 'exact_in', ...(venue && { router: venue }) } as const;
    const paths = await estimates.candidatePaths(table.graph(chainId), pair, MAX_RANKED);
    const direct = paths.filter(({ legs }) => legs.length === 1);
    const maxReads = byKey ? MAX_READS.keyed : MAX_READS.anonymous;
    const chosen = choosePools(direct, { tradeType: 'exact_in', amount: Number(amountIn) }, maxReads);
    return chosen.flatMap(({ legs }) => legs.flat());
  }
}

/** The fields of a quote, as JSON without braces. A pool without a router is what a swap is sent to. */
function fieldsOf(
  { tokenIn, tokenOut, amountIn }: TakerOrder,
  { address, router }: ServedPool,
  amountOut: bigint,
): string {
  const amounts = { amountIn: `0x${amountIn.toString(16)}`, amountOut: `0x${amountOut.toString(16)}` };
  return JSON.stringify({ tokenIn, tokenOut, ...amounts, pamm: address, router: router ?? address }).slice(1, -1);
}

/** The pool that gives most; the first of equal ones. Null when none gives anything for all of the input. */
function bestOf(
  candidates: readonly Candidate[],
  snapshots: SnapshotMap<DepthSnapshot>,
  amountIn: bigint,
): Fill | null {
  let best: Fill | null = null;
  for (const { pool, zeroForOne } of candidates) {
    const snapshot = snapshots.get(pool.address);
    if (!snapshot || snapshot instanceof SnapshotError || snapshot.status !== 'healthy') continue;
    const curve = fillCurve(zeroForOne ? snapshot.depth.bids : snapshot.depth.asks, 'exact_in');
    const amountOut = amountIn <= capacity(curve) ? foundAt(curve, amountIn) : 0n;
    if (amountOut > (best?.amountOut ?? 0n)) best = { snapshot, amountOut };
  }
  return best;
}

/** What a pool is expected to give for all of an input, raw units: 0 when nothing is known of it. */
function mayGive({ estimate }: Candidate, amountIn: bigint): number {
  const amount = Number(amountIn);
  const { specified, computed } = walkEstimates([estimate], { tradeType: 'exact_in', amount });
  return specified < amount ? 0 : computed;
}

/** The error when pools that were not read might have given a quote. */
function missingData(snapshots: SnapshotMap<DepthSnapshot>): ApiError | null {
  const missing = snapshots.values().find((each) => {
    if (!(each instanceof SnapshotError)) return each.status === 'internal_error' || each.status === 'unknown';
    return each.code !== 'unavailable' || each instanceof BlockTooOldError;
  });
  return missing ? unavailable(missing) : null;
}

const unreadPool = (cause: unknown) =>
  new ApiError(503, { error: 'a pool that may give more was not read: retry' }, { cause });
const noQuote = (code: string, error: string) => new ApiError(422, { code, error });
