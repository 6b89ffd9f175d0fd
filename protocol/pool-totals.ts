/**
 * What is counted of a pool, by its place in the list of running totals. They only grow. Everything that holds or shows
 * totals is made from this list; a new one goes at its end, since the places are stored.
 */
export const TOTAL = {
  swapCount: 0,
  swapTxCount: 1,
  liquidityAddCount: 2,
  liquidityRemoveCount: 3,
  transferCount: 4,
  swapIn0Raw: 5,
  swapIn1Raw: 6,
  swapOut0Raw: 7,
  swapOut1Raw: 8,
  liquidityIn0Raw: 9,
  liquidityIn1Raw: 10,
  liquidityOut0Raw: 11,
  liquidityOut1Raw: 12,
  feesCollected0Raw: 13,
  feesCollected1Raw: 14,
  lpFee0Scaled: 15,
  lpFee1Scaled: 16,
  protocolFee0Scaled: 17,
  protocolFee1Scaled: 18,
  notionalFee0Scaled: 19,
  notionalFee1Scaled: 20,
} as const;

export type TotalName = keyof typeof TOTAL;

/** What each total adds up; of a pair the first speaks for both tokens. `docs/totals.md` is made of it. */
export const ADDS_UP: Readonly<Record<Exclude<TotalName, SecondOfPair>, string>> = {
  swapCount: 'one per `Swap`',
  swapTxCount: 'one per transaction with a `Swap` of this pool',
  liquidityAddCount: 'one per `LiquidityAdded`',
  liquidityRemoveCount: 'one per `LiquidityRemoved`',
  transferCount:
    'one per non-zero raw amount: the two of a swap, the two of a liquidity change, the four of a fee collection',
  swapIn0Raw: 'positive amounts of `Swap`',
  swapOut0Raw: 'absolute values of negative amounts of `Swap`',
  liquidityIn0Raw: 'raw amounts of `LiquidityAdded` (`liquidity_change.amount0_raw`)',
  liquidityOut0Raw: 'absolute raw amounts of `LiquidityRemoved`',
  feesCollected0Raw: '`ProtocolFeesCollected`, to protocol and to admin together',
  lpFee0Scaled: '`lpFeeAmount` of `BinSwapped`, on the side of the input token',
  protocolFee0Scaled: '`protocolFeeAmount` of `Swap`, on the side of the input token',
  notionalFee0Scaled: 'notional fee: output token of an exact input, input token of an exact output',
};

type SecondOfPair = Extract<TotalName, `${string}1${string}`>;

/** In the order of their places. Marked, so that the indexer's fingerprint does not hold it. */
export const TOTAL_NAMES = /* @__PURE__ */ Object.keys(TOTAL) as readonly TotalName[];

/** Name of a total's column. */
export function totalColumn(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Postgres type of a total's column: counts are int8, amounts numeric. */
export function totalType(name: string): 'int8' | 'numeric' {
  return name.endsWith('Count') ? 'int8' : 'numeric';
}
