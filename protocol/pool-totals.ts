/**
 * Running totals of a pool, by their place in the list that is stored; they only grow. Everything that holds or shows
 * totals is made from this list. A new total goes to its end, since the places are stored. `docs/use/totals.md` is made
 * from the comments: each says what is added up, and the first of a pair is for both.
 */
export const TOTAL = {
  /** one per `Swap` */
  swapCount: 0,
  /** one per transaction with a `Swap` of this pool */
  swapTxCount: 1,
  /** one per `LiquidityAdded` */
  liquidityAddCount: 2,
  /** one per `LiquidityRemoved` */
  liquidityRemoveCount: 3,
  /** one per non-zero raw amount: the two of a swap, the two of a liquidity change, the four of a fee collection */
  transferCount: 4,
  /** positive amounts of `Swap` */
  swapIn0Raw: 5,
  swapIn1Raw: 6,
  /** absolute values of negative amounts of `Swap` */
  swapOut0Raw: 7,
  swapOut1Raw: 8,
  /** raw amounts of `LiquidityAdded` (`liquidity_change.amount0_raw`) */
  liquidityIn0Raw: 9,
  liquidityIn1Raw: 10,
  /** absolute raw amounts of `LiquidityRemoved` */
  liquidityOut0Raw: 11,
  liquidityOut1Raw: 12,
  /** `ProtocolFeesCollected`, to protocol and to admin together */
  feesCollected0Raw: 13,
  feesCollected1Raw: 14,
  /** `lpFeeAmount` of `BinSwapped`, on the side of the input token */
  lpFee0Scaled: 15,
  lpFee1Scaled: 16,
  /** `protocolFeeAmount` of `Swap`, on the side of the input token */
  protocolFee0Scaled: 17,
  protocolFee1Scaled: 18,
  /** notional fee: output token of an exact input, input token of an exact output */
  notionalFee0Scaled: 19,
  notionalFee1Scaled: 20,
  /** packed pools: halves of `BinSwapped.fees` in sales of token0 */
  saleBinFeesHigh: 21,
  saleBinFeesLow: 22,
  /** the same in purchases of token0 */
  purchaseBinFeesHigh: 23,
  purchaseBinFeesLow: 24,
  /** packed pools: halves of `Swap.platformFees` in sales of token0 */
  salePlatformFeesHigh: 25,
  salePlatformFeesLow: 26,
  /** the same in purchases of token0 */
  purchasePlatformFeesHigh: 27,
  purchasePlatformFeesLow: 28,
} as const;

export type TotalName = keyof typeof TOTAL;

/** Totals of fees that only events of flat pools report: null for any other pool. */
export const FLAT_FEE_TOTALS = [
  'lpFee0Scaled',
  'lpFee1Scaled',
  'protocolFee0Scaled',
  'protocolFee1Scaled',
  'notionalFee0Scaled',
  'notionalFee1Scaled',
] as const satisfies readonly TotalName[];

/** Totals by name. */
export type Totals = {
  readonly [Name in TotalName]: Name extends (typeof FLAT_FEE_TOTALS)[number] ? bigint | null : bigint;
};

/** In the order of their places. Marked, so that the indexer's fingerprint does not hold it. */
export const TOTAL_NAMES = /* @__PURE__ */ Object.keys(TOTAL) as readonly TotalName[];

/** Name of a total's column. */
export function totalColumn(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
