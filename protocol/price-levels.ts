import type { PoolSide } from './curve.ts';
import type { DepthLevel } from './depth.ts';

/** An exact input of a side and what the pool pays out for all of it, raw units. */
export interface PriceLevel {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** Whether the output is exact to the unit; else the pool pays out at least that much. */
  readonly isExact: boolean;
}

/** The steps, as halvings of the side's end: from a millionth, each four times the one before. */
const STEPS = [20n, 18n, 16n, 14n, 12n, 10n, 8n, 6n, 4n, 2n];

/**
 * The amounts at which a side is shown: geometric steps, and the end of each bin. Both amounts ascend; the last level
 * is the end of the side. A curve that is not known between its levels has the ends of bins alone.
 *
 * @param levels the part of the side that trades
 */
export function priceLevels(levels: readonly DepthLevel[], outputOf: PoolSide['outputOf']): PriceLevel[] {
  const end = levels.at(-1)?.cumulativeInput ?? 0n;
  const outputs = new Map(levels.map(({ cumulativeInput, cumulativeOutput }) => [cumulativeInput, cumulativeOutput]));
  if (outputOf)
    for (const amountIn of [...outputs.keys(), ...STEPS.map((halvings) => end >> halvings)])
      outputs.set(amountIn, outputOf(amountIn));
  const shown: PriceLevel[] = [];
  for (const [amountIn, amountOut] of [...outputs].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (amountOut > (shown.at(-1)?.amountOut ?? 0n)) shown.push({ amountIn, amountOut, isExact: outputOf !== null });
  }
  return shown;
}

/**
 * The smallest exact input that pays out anything, raw units: pools refuse what rounds to zero, or pay nothing for it.
 * Null where the curve is not known between its levels, or pays out nothing.
 */
export function smallestInput({ outputOf, inputWithin }: Pick<PoolSide, 'outputOf' | 'inputWithin'>): bigint | null {
  const least = inputWithin(0n) + 1n;
  return outputOf && outputOf(least) > 0n ? least : null;
}

/**
 * Thins levels to at most `most`, unless lines between fewer would promise more than those of all. Inputs are spread
 * evenly by ratio, from the first level to the end of the side, which stays.
 */
export function thinLevels(levels: readonly PriceLevel[], most: number): readonly PriceLevel[] {
  const [first, end] = [levels[0], levels.at(-1)];
  if (!first || !end || levels.length <= most) return levels;
  const ratio = Number(end.amountIn) / Number(first.amountIn);
  const taken = new Set<number>();
  for (let step = 0; step < most - 1; step += 1) {
    const least = Number(first.amountIn) * ratio ** (step / (most - 1));
    taken.add(levels.findIndex(({ amountIn }) => amountIn === end.amountIn || Number(amountIn) >= least));
  }
  let next = 0;
  return [...taken.add(levels.length - 1)].flatMap((index) => {
    const between = levelsBelow(levels, next, index);
    next = index + 1;
    return [...between, levels[index] as PriceLevel];
  });
}

/** The levels from one index to before another that the line over them would promise more than. */
function levelsBelow(levels: readonly PriceLevel[], from: number, to: number): PriceLevel[] {
  const [start, end] = [levels[from - 1] ?? { amountIn: 0n, amountOut: 0n }, levels[to] as PriceLevel];
  const [run, rise] = [end.amountIn - start.amountIn, end.amountOut - start.amountOut];
  let [lowest, least] = [-1, 0n];
  for (let index = from; index < to; index += 1) {
    const { amountIn, amountOut } = levels[index] as PriceLevel;
    const above = (amountOut - start.amountOut) * run - rise * (amountIn - start.amountIn);
    if (above < least) [lowest, least] = [index, above];
  }
  if (lowest < 0) return [];
  return [...levelsBelow(levels, from, lowest), levels[lowest] as PriceLevel, ...levelsBelow(levels, lowest + 1, to)];
}
