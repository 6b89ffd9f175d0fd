import type { CallResult } from '../bounded-calls/bounded-calls.ts';
import { isRejection, type PoolSide, type SideLimit, SMALLEST_SWAP, type SwapOutcome } from '../curve.ts';
import { tradingBins } from '../fill-walk.ts';
import { minBigint } from '../fixed-point.ts';
import { simulatedAmounts } from '../pool-errors.ts';

/**
 * A simulated swap: its input, raw units, and how it ended. `outcome` is null when the gas of the call did not reach
 * it. For {@link SMALLEST_SWAP}, the input is what the swap took.
 */
export interface ProbedInput {
  readonly input: bigint;
  readonly outcome: SwapOutcome | null;
  readonly result: CallResult | null;
}

/**
 * Lists the amounts that probe a whole side: {@link SMALLEST_SWAP}, then exact inputs to the start, the middle and the
 * end of every bin that trades.
 */
export function everyBin({ levels, maxInput }: PoolSide): bigint[] {
  let before = 0n;
  const points = tradingBins(levels).flatMap(({ input }) => {
    const start = before;
    before += input;
    return [...(start === 0n ? [] : [start + 1n]), start + (input + 1n) / 2n, before];
  });
  return ascending([SMALLEST_SWAP, ...points.map((point) => minBigint(point, maxInput))]);
}

/**
 * Chooses as many points of a side as fit the budget, spread evenly from the smallest swap to the whole side; both ends
 * always.
 *
 * @param costOf gas of a probe
 */
export function withinBudget(
  side: PoolSide,
  budget: { readonly gas: number; readonly probes: number },
  costOf: (amount: bigint) => number,
): readonly bigint[] {
  const points = everyBin(side);
  for (let count = Math.min(points.length, budget.probes); count > 2; count--) {
    const chosen = Array.from({ length: count }, (_, index) => {
      return points[Math.round((index * (points.length - 1)) / (count - 1))] as bigint;
    });
    if (chosen.reduce((gas, amount) => gas + costOf(amount), 0) <= budget.gas) return chosen;
  }
  return ascending([points[0] ?? SMALLEST_SWAP, points.at(-1) ?? SMALLEST_SWAP]);
}

/** @param result null when the gas of the call did not reach the amount */
export function probedInput(side: PoolSide, amount: bigint, result: CallResult | null): ProbedInput {
  const outcome = result && side.swapOutcome(result);
  const filled = result && simulatedAmounts(result);
  const taken = (side.zeroForOne ? filled?.amount0Delta : filled?.amount1Delta) ?? 0n;
  return { input: amount < 0n ? taken : amount, outcome, result };
}

/**
 * Finds where a side ends: at the last input that fills before the first that is rejected; null when none is rejected.
 * Inputs no larger than the first one are ignored: they buy less than a unit.
 *
 * @param probed first {@link SMALLEST_SWAP}, or an input that fills; then ascending inputs
 */
export function limitOf(side: PoolSide, probed: readonly ProbedInput[]): SideLimit | null {
  const level = side.levels.length;
  const [smallest, ...larger] = probed;
  if (!smallest) return null;
  if (isRejection(smallest.outcome)) return { most: 0n, level, beyond: null };
  const counted = [smallest, ...larger.filter(({ input }) => input > smallest.input)];
  const refused = counted.findIndex(
    ({ outcome }, index) => isRejection(outcome) || (index > 0 && outcome === 'tooLarge'),
  );
  if (refused < 0) return null;
  const last = counted.slice(0, refused).findLast(({ outcome }) => outcome === 'fills');
  return { most: last?.input ?? 0n, level, beyond: counted[refused]?.input ?? null, filled: last?.result ?? undefined };
}

/** Amounts without repetitions, smallest first. */
export const ascending = (points: readonly bigint[]): bigint[] => [...new Set(points)].sort((a, b) => (a < b ? -1 : 1));
