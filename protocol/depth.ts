/** One bin of a side, as clients see it. Levels go outward from the cursor. */
export interface DepthLevel {
  readonly bin: number;
  /** Fee-adjusted marginal price at the bin's far edge, with that bin's own fee, Q64.64. */
  readonly priceX64: bigint;
  /** Output received by walking through the end of this bin, raw units. */
  readonly cumulativeOutput: bigint;
  /** Input paid for it, raw units. */
  readonly cumulativeInput: bigint;
  /** Unsigned distance of the price from the side's best price, in millionths. */
  readonly priceImpactE6: bigint;
}

/** Bids sell token0 for token1, walking down; asks buy token0 with token1, walking up. */
export interface Depth {
  readonly bids: readonly DepthLevel[];
  readonly asks: readonly DepthLevel[];
}

/**
 * The part of a side that inputs up to `most` (raw units) reach: whole levels, all before index `end`, and one more for
 * what is left.
 *
 * @param levelAtInput the level of a stop wherever an input leads
 */
export function levelsReached(
  levels: readonly DepthLevel[],
  most: bigint,
  end: number,
  levelAtInput: (inputRaw: bigint) => DepthLevel | null,
): readonly DepthLevel[] {
  const whole = levels.slice(0, end).filter(({ cumulativeInput }) => cumulativeInput <= most);
  const reached = whole.at(-1)?.cumulativeInput ?? 0n;
  const partial = most > reached ? levelAtInput(most) : null;
  return partial ? [...whole, partial] : whole;
}
