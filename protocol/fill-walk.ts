import type { DepthLevel } from './depth.ts';

/** What a fill walk reads of a level. */
export type WalkLevel = Pick<DepthLevel, 'cumulativeInput' | 'cumulativeOutput'>;

/** What one level adds to the levels before it, raw units; both amounts are positive. */
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
