import type { BinAmounts } from '../../protocol/fill-walk.ts';
import { minBigint, mulDivCeil, mulDivFloor } from '../../protocol/fixed-point.ts';

/* A fill walked bin by bin, as the contract with clients puts it: the reference of `protocol/routing/fill-curve.ts`. */

/** Estimate of a fill, raw units. */
interface Fill {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** What the side could not take (exact input) or give (exact output); 0 when the order is filled. */
  readonly remaining: bigint;
  /** Index of the last level that the fill reached; -1 when it reached none. */
  readonly lastLevel: number;
}

/** Estimates what an exact input (raw units, >= 0) receives on a side: each bin gives pro rata, rounded down. */
export function walkExactInput(bins: readonly BinAmounts[], amountIn: bigint): Fill {
  let remaining = amountIn;
  let received = 0n;
  let lastLevel = -1;
  for (const bin of bins) {
    if (remaining === 0n) break;
    const used = minBigint(remaining, bin.input);
    received += used === bin.input ? bin.output : mulDivFloor(bin.output, used, bin.input);
    remaining -= used;
    lastLevel = bin.index;
  }
  return { amountIn: amountIn - remaining, amountOut: received, remaining, lastLevel };
}

/** Estimates what an exact output (raw units, >= 0) costs on a side: each bin costs pro rata, rounded up. */
export function walkExactOutput(bins: readonly BinAmounts[], amountOut: bigint): Fill {
  let remaining = amountOut;
  let paid = 0n;
  let lastLevel = -1;
  for (const bin of bins) {
    if (remaining === 0n) break;
    const used = minBigint(remaining, bin.output);
    paid += used === bin.output ? bin.input : mulDivCeil(bin.input, used, bin.output);
    remaining -= used;
    lastLevel = bin.index;
  }
  return { amountIn: paid, amountOut: amountOut - remaining, remaining, lastLevel };
}
