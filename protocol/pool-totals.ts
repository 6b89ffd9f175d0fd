import type { FeesCollected, Halves, LiquidityChanged, PackedSwapped, SwapDeltas, Swapped } from './pool-events.ts';

/**
 * Running totals of a pool, by their place in the list that is stored; they only grow. What holds or shows totals is
 * made from this list, but for the SQL of the history, which names places. A new total goes to its end, since the
 * places are stored. `docs/use/totals.md` is made from the comments: each says what is added up,
 * and the first of a pair is for both.
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

/** What one log adds to the totals of its pool: amounts with their places in the list. */
export type ActivityGain = readonly (readonly [place: number, amount: bigint])[];

/** Fees of a swap, scaled. Bin fees are in the input token, the notional fee is in one of the two tokens. */
export interface SwapFees {
  /** True when token0 was the input. */
  readonly zeroForOne: boolean;
  readonly lpFeeScaled: bigint;
  readonly protocolFeeScaled: bigint;
  readonly notionalFee0Scaled: bigint;
  readonly notionalFee1Scaled: bigint;
}

/** @param newTransaction false when the previous swap of the pool was in the same transaction */
export function swapGain(event: Swapped, fees: SwapFees, newTransaction: boolean): ActivityGain {
  const { zeroForOne, lpFeeScaled, protocolFeeScaled, notionalFee0Scaled, notionalFee1Scaled } = fees;
  return [
    ...amountsGain(event, newTransaction),
    [zeroForOne ? TOTAL.lpFee0Scaled : TOTAL.lpFee1Scaled, lpFeeScaled],
    [zeroForOne ? TOTAL.protocolFee0Scaled : TOTAL.protocolFee1Scaled, protocolFeeScaled],
    [TOTAL.notionalFee0Scaled, notionalFee0Scaled],
    [TOTAL.notionalFee1Scaled, notionalFee1Scaled],
  ];
}

/**
 * Takes the direction of the swap from its amounts: it is uncertain how `details` encode it.
 *
 * @param binFees sums of the halves of `BinSwapped.fees`
 * @param newTransaction as in {@link swapGain}
 */
export function packedSwapGain(event: PackedSwapped, binFees: Halves, newTransaction: boolean): ActivityGain {
  const { amount0Delta, platformFees } = event;
  const isSale = amount0Delta > 0n;
  return [
    ...amountsGain(event, newTransaction),
    [isSale ? TOTAL.saleBinFeesHigh : TOTAL.purchaseBinFeesHigh, binFees.high],
    [isSale ? TOTAL.saleBinFeesLow : TOTAL.purchaseBinFeesLow, binFees.low],
    [isSale ? TOTAL.salePlatformFeesHigh : TOTAL.purchasePlatformFeesHigh, platformFees.high],
    [isSale ? TOTAL.salePlatformFeesLow : TOTAL.purchasePlatformFeesLow, platformFees.low],
  ];
}

function amountsGain({ amount0Delta, amount1Delta }: SwapDeltas, newTransaction: boolean): ActivityGain {
  return [
    [TOTAL.swapCount, 1n],
    [TOTAL.swapTxCount, newTransaction ? 1n : 0n],
    [TOTAL.transferCount, countNonZero(amount0Delta, amount1Delta)],
    [TOTAL.swapIn0Raw, positive(amount0Delta)],
    [TOTAL.swapIn1Raw, positive(amount1Delta)],
    [TOTAL.swapOut0Raw, positive(-amount0Delta)],
    [TOTAL.swapOut1Raw, positive(-amount1Delta)],
  ];
}

/** @param sums raw amounts of all bins together, signed: positive into the pool */
export function liquidityGain(
  direction: LiquidityChanged['direction'],
  sums: Readonly<Record<'amount0Raw' | 'amount1Raw', bigint>>,
): ActivityGain {
  const { amount0Raw, amount1Raw } = sums;
  return [
    [direction === 'added' ? TOTAL.liquidityAddCount : TOTAL.liquidityRemoveCount, 1n],
    [TOTAL.transferCount, countNonZero(amount0Raw, amount1Raw)],
    [TOTAL.liquidityIn0Raw, positive(amount0Raw)],
    [TOTAL.liquidityIn1Raw, positive(amount1Raw)],
    [TOTAL.liquidityOut0Raw, positive(-amount0Raw)],
    [TOTAL.liquidityOut1Raw, positive(-amount1Raw)],
  ];
}

export function collectionGain(event: FeesCollected): ActivityGain {
  const { amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin } = event;
  return [
    [TOTAL.transferCount, countNonZero(amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin)],
    [TOTAL.feesCollected0Raw, amount0ToProtocol + amount0ToAdmin],
    [TOTAL.feesCollected1Raw, amount1ToProtocol + amount1ToAdmin],
  ];
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function countNonZero(...amounts: readonly bigint[]): bigint {
  return BigInt(amounts.filter((amount) => amount !== 0n).length);
}
