import type { SwapAmounts } from '../../protocol/curve.ts';
import { minBigint } from '../../protocol/fixed-point.ts';
import { capacity, type FillCurve, foundAt } from '../../protocol/routing/fill-curve.ts';

/**
 * Whether a swap gives less than a side promises: an unknown extension may be part of the pool. A pool may stop short
 * by what a raw unit of the input buys, and rounds the output down.
 *
 * @param promises what the side gives for exact inputs
 */
export const isShort = (promises: FillCurve, { amountIn, amountOut }: SwapAmounts): boolean =>
  amountOut + 1n < foundAt(promises, minBigint(amountIn, capacity(promises)) - 1n);
