import type { PoolSide, SideLimit, SwapOutcome } from '../curve.ts';
import { tradingBins } from '../fill-walk.ts';
import { minBigint } from '../fixed-point.ts';

/** An input that was simulated, raw units, and how it ended; null when the gas of the call did not reach it. */
export interface ProbedInput {
  readonly input: bigint;
  readonly outcome: SwapOutcome | null;
}

/** Inputs from the first unit to the end of a side: the start, the middle and the end of every bin that trades. */
export function everyBin({ levels, maxInput }: PoolSide): bigint[] {
  let before = 0n;
  const points = tradingBins(levels).flatMap(({ input }) => {
    const start = before;
    before += input;
    return [start + 1n, start + (input + 1n) / 2n, before];
  });
  return ascending([1n, ...points.map((point) => minBigint(point, maxInput))]);
}

/**
 * As many points as the budget pays for: the first unit and the whole side, then ends, starts and middles of bins, spread
 * evenly.
 *
 * @param costOf gas of a probe
 */
export function withinBudget(
  side: PoolSide,
  budget: { readonly gas: number; readonly probes: number },
  costOf: (input: bigint) => number,
): bigint[] {
  const points = everyBin(side);
  const [first, last] = [points[0] ?? 1n, points.at(-1) ?? 1n];
  const chosen = new Set([first, last]);
  let spent = costOf(first) + costOf(last);
  for (const input of spreadOrder(points)) {
    if (chosen.has(input)) continue;
    const cost = costOf(input);
    if (spent + cost > budget.gas || chosen.size === budget.probes) break;
    chosen.add(input);
    spent += cost;
  }
  return ascending([...chosen]);
}

/** The side ends at the last input that fills before the first that does not; null when all that were asked fill. */
export function limitOf(side: PoolSide, probed: readonly ProbedInput[]): SideLimit | null {
  const refused = probed.findIndex(({ outcome }) => outcome !== null && outcome !== 'fills');
  if (refused < 0) return null;
  const most = probed.slice(0, refused).findLast(({ outcome }) => outcome === 'fills')?.input ?? 0n;
  return { most, level: side.levels.length, beyond: probed[refused]?.input ?? null };
}

const ascending = (points: readonly bigint[]): bigint[] => [...new Set(points)].sort((a, b) => (a < b ? -1 : 1));

/** Every point once, such that any beginning of the order is spread over all of them. */
function* spreadOrder(points: readonly bigint[]): Generator<bigint> {
  for (let stride = 1 << Math.ceil(Math.log2(points.length + 1)); stride >= 1; stride >>= 1) {
    for (let index = stride - 1; index < points.length; index += stride) yield points[index] as bigint;
  }
}
