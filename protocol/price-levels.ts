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
 * The amounts at which a side is shown: geometric steps, and the end of each bin. Both amounts ascend; the last level is
 * the end of the side. A curve that is not known between its levels has the ends of bins alone.
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
