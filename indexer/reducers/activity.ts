import type { FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import type { LiquiditySums } from './liquidity.ts';
import { arrayLiteral, NumberList } from './number-list.ts';
import type { SwapFees } from './swap.ts';

/** What is counted of a pool, by its place in the list of running totals. They only grow. */
export const TOTAL = {
  swapCount: 0,
  /** Transactions with at least one swap of the pool. */
  swapTxCount: 1,
  liquidityAddCount: 2,
  liquidityRemoveCount: 3,
  /** One per non-zero raw amount of a swap, liquidity change or fee collection. */
  transferCount: 4,
  swapIn0Raw: 5,
  swapIn1Raw: 6,
  swapOut0Raw: 7,
  swapOut1Raw: 8,
  liquidityIn0Raw: 9,
  liquidityIn1Raw: 10,
  liquidityOut0Raw: 11,
  liquidityOut1Raw: 12,
  /** Paid out to protocol and admin. */
  feesCollected0Raw: 13,
  feesCollected1Raw: 14,
  /** Bin fees, by the token of the input: the liquidity providers' part, and that of protocol and admin. */
  lpFee0Scaled: 15,
  lpFee1Scaled: 16,
  protocolFee0Scaled: 17,
  protocolFee1Scaled: 18,
  notionalFee0Scaled: 19,
  notionalFee1Scaled: 20,
} as const;

/** What one log adds to the totals: amounts with their places. */
export type ActivityGain = readonly (readonly [place: number, amount: bigint])[];

/** A new pool's totals. */
export const NO_ACTIVITY = arrayLiteral(Object.values(TOTAL).map(() => 0));

/** Totals with what a log added. */
export function addActivity(totals: string, gain: ActivityGain): string {
  const list = new NumberList(totals);
  for (const [place, amount] of gain) list.add(place, amount);
  return list.toString();
}

/** @param newTransaction false when the pool's previous swap was of the same transaction */
export function swapGain(
  { amount0Delta, amount1Delta }: Swapped,
  { zeroForOne, lpFeeScaled, protocolFeeScaled, notionalFee0Scaled, notionalFee1Scaled }: SwapFees,
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
    [zeroForOne ? TOTAL.lpFee0Scaled : TOTAL.lpFee1Scaled, lpFeeScaled],
    [zeroForOne ? TOTAL.protocolFee0Scaled : TOTAL.protocolFee1Scaled, protocolFeeScaled],
    [TOTAL.notionalFee0Scaled, notionalFee0Scaled],
    [TOTAL.notionalFee1Scaled, notionalFee1Scaled],
  ];
}

export function liquidityGain(
  direction: LiquidityChanged['direction'],
  { amount0Raw, amount1Raw }: LiquiditySums,
): ActivityGain {
  const transfers = [TOTAL.transferCount, countNonZero(amount0Raw, amount1Raw)] as const;
  return direction === 'added'
    ? [
        [TOTAL.liquidityAddCount, 1n],
        transfers,
        [TOTAL.liquidityIn0Raw, amount0Raw],
        [TOTAL.liquidityIn1Raw, amount1Raw],
      ]
    : [
        [TOTAL.liquidityRemoveCount, 1n],
        transfers,
        [TOTAL.liquidityOut0Raw, -amount0Raw],
        [TOTAL.liquidityOut1Raw, -amount1Raw],
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
