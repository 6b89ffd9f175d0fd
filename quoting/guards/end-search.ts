import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { boundedCallsOnce, type ChainTarget, runProgram } from '../../chain/isolated-calls.ts';
import type { ReadContext } from '../../chain/read-context.ts';
import { CALLER } from '../../protocol/bounded-calls/bounded-calls.ts';
import { isRejection, type PoolSide, type SideLimit, SMALLEST_SWAP } from '../../protocol/curve.ts';
import { absBigint, minBigint } from '../../protocol/fixed-point.ts';
import { executableLevels } from '../../protocol/guards/side-claim.ts';
import { simulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import { simulatedAmounts, simulatedResult, swapAmounts } from '../../protocol/pool-errors.ts';
import { fillCurve } from '../../protocol/routing/fill-curve.ts';
import { decodeWalk, encodeWalk, type WalkRecord } from '../../protocol/simulated-walk/simulated-walk.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import { isShort } from './short-fill.ts';

/** A side of a pool at a block. */
export interface SearchedSide extends ReadContext {
  readonly pool: Address;
  readonly side: PoolSide;
}

/** Where a side was found to end. */
interface KnownEnd {
  /** The side that it holds for. */
  readonly state: string;
  /** The largest exact input that filled, and the smallest that was rejected. */
  readonly inputs: SideLimit;
  /** Up to where exact outputs fill as well. */
  readonly end: SideLimit;
}

/** With both amounts that it starts from, a search takes 20 simulations. */
const HALVINGS = 18;
/** After a part of a block: which points are tried between two amounts, in millionths of the way. */
const POINTS_E6 = [
  999_990n,
  999_000n,
  990_000n,
  950_000n,
  875_000n,
  750_000n,
  625_000n,
  500_000n,
  375_000n,
  250_000n,
  125_000n,
];
/** For how many sides it is remembered where they end: those searched last. */
const MAX_SIDES = 10_000;

/**
 * Finds where a side ends that an unknown extension cuts: inside the bin behind the last amount that fills, by a call
 * for exact inputs and another for exact outputs. Remembers it as long as the side is the same. After a part of a block
 * it finds the end among some points: searches do not show which part they ran on.
 */
export class EndSearch {
  readonly #target: ChainTarget;
  readonly #known = new LRUCache<string, KnownEnd>(growingTo(MAX_SIDES));

  constructor(target: ChainTarget) {
    this.#target = target;
  }

  /**
   * Amounts whose simulation shows whether the side still ends where it did: exact inputs, and the last exact output.
   */
  remembered({ pool, side }: Pick<SearchedSide, 'pool' | 'side'>): { inputs: bigint[]; output: bigint } | null {
    const known = this.#find(pool, side);
    if (!known) return null;
    const { most, beyond } = known.inputs;
    return { inputs: beyond === null ? [most] : [most, beyond], output: lastOutput(side, known.end) };
  }

  /**
   * The end of a side, within the limit that simulated swaps showed.
   *
   * @param isOutputFilled whether the remembered exact output fills
   * @throws RpcFailure when no node answered; OtherPart when a call ran on another part
   */
  async find(searched: SearchedSide, limit: SideLimit, isOutputFilled: boolean): Promise<SideLimit> {
    const { pool, side } = searched;
    const known = this.#find(pool, side);
    const isSame = known?.inputs.most === limit.most && known.inputs.beyond === limit.beyond;
    if (known && isSame && isOutputFilled) return known.end;
    const inputs = await this.#searchInputs(searched, limit);
    const end = await this.#searchOutputs(searched, inputs);
    this.#known.set(keyOf(pool, side), { state: stateOf(side), inputs, end });
    return end;
  }

  #find(pool: Address, side: PoolSide): KnownEnd | undefined {
    const known = this.#known.get(keyOf(pool, side));
    return known?.state === stateOf(side) ? known : undefined;
  }

  /** Searches the bin behind the last amount that fills: farther on, an extension may reject the start of any bin. */
  async #searchInputs(searched: SearchedSide, limit: SideLimit): Promise<SideLimit> {
    const { side } = searched;
    const { most, beyond } = limit;
    if (beyond === null) return limit;
    const binEnd = side.levels.find(({ cumulativeInput }) => cumulativeInput > most)?.cumulativeInput ?? beyond;
    const end = minBigint(binEnd, beyond);
    if (end - most <= 1n) return limit;
    const records = await this.#simulate(searched, [most, end]);
    const promises = fillCurve(side.levels, 'exact_in');
    const isRejected = ({ outcome, fill }: WalkRecord): boolean =>
      isRejection(outcome) || (fill !== null && isShort(promises, swapAmounts(side.zeroForOne, fill)));
    const nearest = records.filter(isRejected).reduce((least, { amount }) => minBigint(least, amount), beyond);
    const within = records.filter(({ fill, amount }) => fill && amount > most && amount < nearest);
    const filled = within.reduce(larger, null);
    if (!filled?.fill) return { ...limit, beyond: nearest };
    return { ...limit, most: filled.amount, beyond: nearest, filled: simulatedResult(filled.fill) };
  }

  /** Lowers a limit where the exact output that it leads to does not fill. */
  async #searchOutputs(searched: SearchedSide, limit: SideLimit): Promise<SideLimit> {
    const { side } = searched;
    const output = lastOutput(side, limit);
    if (output <= -SMALLEST_SWAP) return limit;
    const records = await this.#simulate(searched, [SMALLEST_SWAP, -output]);
    const last = records.filter(({ fill }) => fill).reduce(larger, null);
    const pair = last?.fill && swapAmounts(side.zeroForOne, last.fill);
    if (!pair) return { ...limit, most: 0n };
    if (pair.amountOut >= output) return limit;
    const most = minBigint(limit.most, pair.amountIn);
    const [paid, given] = [most, -pair.amountOut];
    const filled = side.zeroForOne
      ? { amount0Delta: paid, amount1Delta: given }
      : { amount0Delta: given, amount1Delta: paid };
    return { ...limit, most, beyond: null, filled: simulatedResult(filled) };
  }

  /** Simulates two amounts, and some between them, up to the first that is rejected. */
  #simulate(searched: SearchedSide, amounts: readonly [bigint, bigint]): Promise<readonly WalkRecord[]> {
    return searched.block.pending?.part ? this.#tryPoints(searched, amounts) : this.#walk(searched, amounts);
  }

  /** By a call that shows its part. Where its gas does not reach all points, the last ones have it. */
  async #tryPoints(searched: SearchedSide, [from, to]: readonly [bigint, bigint]): Promise<readonly WalkRecord[]> {
    const { pool, side } = searched;
    const amounts = [to, from, ...POINTS_E6.map((point) => from + ((to - from) * point) / 1_000_000n)];
    const swaps = amounts.map((amount) => simulatedSwap(pool, side, amount, 'unknown'));
    const { results } = await boundedCallsOnce(this.#target, searched, swaps);
    const records = amounts.flatMap((amount, index): WalkRecord[] => {
      const result = results[index];
      return result ? [{ amount, outcome: side.swapOutcome(result), fill: simulatedAmounts(result) }] : [];
    });
    const ordered = records.sort((a, b) => (absBigint(a.amount) < absBigint(b.amount) ? -1 : 1));
    const rejected = ordered.findIndex(({ outcome }) => isRejection(outcome));
    return rejected < 0 ? ordered : ordered.slice(0, rejected + 1);
  }

  async #walk(searched: SearchedSide, amounts: readonly bigint[]): Promise<readonly WalkRecord[]> {
    const { pool, side } = searched;
    const walk = {
      pool,
      template: { data: side.simulation(SMALLEST_SWAP, CALLER), amountOffset: side.amountOffset },
      warming: { data: '0x', gas: 0 } as const,
      points: amounts.map((amount) => ({ amount, gasLimit: simulatedSwap(pool, side, amount, 'unknown').gasLimit })),
      halvings: HALVINGS,
    };
    return (await runProgram(this.#target, searched, encodeWalk(walk), decodeWalk)).records;
  }
}

const keyOf = (pool: Address, { zeroForOne }: PoolSide): string => `${pool} ${zeroForOne}`;

const stateOf = ({ levels }: PoolSide): string =>
  levels.map(({ cumulativeInput, cumulativeOutput }) => `${cumulativeInput} ${cumulativeOutput}`).join();

const lastOutput = (side: PoolSide, limit: SideLimit): bigint =>
  executableLevels(side, limit)?.at(-1)?.cumulativeOutput ?? 0n;

/** The larger swap of two in one direction. */
const larger = (a: WalkRecord | null, b: WalkRecord): WalkRecord =>
  a && absBigint(a.amount) > absBigint(b.amount) ? a : b;
