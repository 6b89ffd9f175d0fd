import { absBigint, mulDivFloor, Q64 } from '../../protocol/fixed-point.ts';
import type { TokenScale } from '../../protocol/scaling.ts';

/** Raw amounts of token0 and token1 that moved, of either sign. */
export type TradedAmounts = readonly [amount0Raw: bigint, amount1Raw: bigint];

/**
 * Average price of what moved, Q64.64: token1 per whole token0, or inverted token0 per whole token1. Scaled amounts of
 * both tokens have the same decimals. Null when nothing moved of the token that is priced.
 */
export function averagePriceX64Floor(
  [amount0Raw, amount1Raw]: TradedAmounts,
  { multiplier0, multiplier1 }: TokenScale,
  invert = false,
): bigint | null {
  const [scaled0, scaled1] = [absBigint(amount0Raw) * multiplier0, absBigint(amount1Raw) * multiplier1];
  const [priced, paid] = invert ? [scaled1, scaled0] : [scaled0, scaled1];
  return priced === 0n ? null : mulDivFloor(paid, Q64, priced);
}
