import type { DepthLevel } from './depth.ts';
import { minBigint, mulDivCeil, mulDivFloor } from './fixed-point.ts';

/** What a fill walk reads of a level. */
export type WalkLevel = Pick<DepthLevel, 'cumulativeInput' | 'cumulativeOutput'>;

/** Estimate of a fill, raw units. */
export interface Fill {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** What the side could not take (exact input) or give (exact output); 0 when the order is filled. */
  readonly remaining: bigint;
  /** Index of the last level that the fill reached; -1 when it reached none. */
  readonly lastLevel: number;
}

/** What one level adds to those before it, raw units; both amounts are positive. */
export interface BinAmounts {
  /** Index of the level. */
  readonly index: number;
  readonly input: bigint;
  readonly output: bigint;
}

/**
 * The bins of a side that a fill passes through, in order: compute them once for many walks. A level whose cumulative
 * input does not exceed the previous one is left out, and so is a bin without output.
 */
export function tradingBins(levels: readonly WalkLevel[]): BinAmounts[] {
  const bins: BinAmounts[] = [];
  let previous: WalkLevel = { cumulativeInput: 0n, cumulativeOutput: 0n };
  for (const [index, level] of levels.entries()) {
    if (level.cumulativeInput <= previous.cumulativeInput) continue;
    const input = level.cumulativeInput - previous.cumulativeInput;
    const output = level.cumulativeOutput - previous.cumulativeOutput;
    previous = level;
    if (output > 0n) bins.push({ index, input, output });
  }
  return bins;
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
