import type { FeesCollected, Halves, LiquidityChanged, PackedSwapped, Swapped } from '../../protocol/pool-events.ts';
import { FLAT_FEE_TOTALS, TOTAL } from '../../protocol/pool-totals.ts';
import type { LiquiditySums } from './liquidity.ts';
import { arrayLiteral } from './number-list.ts';
import type { SwapFees } from './swap.ts';

/** What one log adds to the totals of its pool: amounts with their positions in the list. */
export type ActivityGain = readonly (readonly [place: number, amount: bigint])[];

/** Totals of a new flat pool. */
export const NO_ACTIVITY = arrayLiteral(Object.values(TOTAL).map(() => 0));

/** Totals of a new packed pool. Its fees are unknown: only the packed words are summed. */
export const NO_PACKED_ACTIVITY = arrayLiteral(
  Object.keys(TOTAL).map((name) => (FLAT_FEE_TOTALS.some((total) => total === name) ? 'NULL' : 0)),
);

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

function amountsGain(
  { amount0Delta, amount1Delta }: Pick<Swapped, 'amount0Delta' | 'amount1Delta'>,
  newTransaction: boolean,
): ActivityGain {
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

export function liquidityGain(
  direction: LiquidityChanged['direction'],
  { amount0Raw, amount1Raw }: Pick<LiquiditySums, 'amount0Raw' | 'amount1Raw'>,
): ActivityGain {
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
