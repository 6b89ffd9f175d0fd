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

/** The levels of a side that trade; null when nothing does. */
export type ExecutableLevels = readonly DepthLevel[] | null;

/** The part of each side of a pool that trades. */
export interface TradingSides {
  readonly bids: ExecutableLevels;
  readonly asks: ExecutableLevels;
}
