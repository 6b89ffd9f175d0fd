import type { FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import type { poolActivity } from '../schema/activity.ts';
import type { LiquiditySums } from './liquidity.ts';
import type { SwapFees } from './swap.ts';

/** Running totals of a pool. They only grow. */
export type Activity = Omit<typeof poolActivity.$inferSelect, 'chainId' | 'pool' | 'blockNumber' | 'blockTimestamp'>;

export const NO_ACTIVITY: Activity = {
  swapCount: 0,
  swapTxCount: 0,
  liquidityAddCount: 0,
  liquidityRemoveCount: 0,
  transferCount: 0,
  swapIn0Raw: 0n,
  swapIn1Raw: 0n,
  swapOut0Raw: 0n,
  swapOut1Raw: 0n,
  liquidityIn0Raw: 0n,
  liquidityIn1Raw: 0n,
  liquidityOut0Raw: 0n,
  liquidityOut1Raw: 0n,
  feesCollected0Raw: 0n,
  feesCollected1Raw: 0n,
  lpFee0Scaled: 0n,
  lpFee1Scaled: 0n,
  protocolFee0Scaled: 0n,
  protocolFee1Scaled: 0n,
  notionalFee0Scaled: 0n,
  notionalFee1Scaled: 0n,
};

/** @param newTransaction false when the pool's previous swap was of the same transaction */
export function countSwap(
  totals: Activity,
  { amount0Delta, amount1Delta }: Swapped,
  fees: SwapFees,
  newTransaction: boolean,
): Activity {
  const { lpFeeScaled, protocolFeeScaled } = fees;
  const input0 = fees.zeroForOne;
  return {
    ...totals,
    swapCount: totals.swapCount + 1,
    swapTxCount: totals.swapTxCount + (newTransaction ? 1 : 0),
    transferCount: totals.transferCount + countNonZero(amount0Delta, amount1Delta),
    swapIn0Raw: totals.swapIn0Raw + positive(amount0Delta),
    swapIn1Raw: totals.swapIn1Raw + positive(amount1Delta),
    swapOut0Raw: totals.swapOut0Raw + positive(-amount0Delta),
    swapOut1Raw: totals.swapOut1Raw + positive(-amount1Delta),
    lpFee0Scaled: totals.lpFee0Scaled + (input0 ? lpFeeScaled : 0n),
    lpFee1Scaled: totals.lpFee1Scaled + (input0 ? 0n : lpFeeScaled),
    protocolFee0Scaled: totals.protocolFee0Scaled + (input0 ? protocolFeeScaled : 0n),
    protocolFee1Scaled: totals.protocolFee1Scaled + (input0 ? 0n : protocolFeeScaled),
    notionalFee0Scaled: totals.notionalFee0Scaled + fees.notionalFee0Scaled,
    notionalFee1Scaled: totals.notionalFee1Scaled + fees.notionalFee1Scaled,
  };
}

export function countLiquidityChange(
  totals: Activity,
  direction: LiquidityChanged['direction'],
  { amount0Raw, amount1Raw }: LiquiditySums,
): Activity {
  return {
    ...totals,
    liquidityAddCount: totals.liquidityAddCount + (direction === 'added' ? 1 : 0),
    liquidityRemoveCount: totals.liquidityRemoveCount + (direction === 'removed' ? 1 : 0),
    transferCount: totals.transferCount + countNonZero(amount0Raw, amount1Raw),
    liquidityIn0Raw: totals.liquidityIn0Raw + positive(amount0Raw),
    liquidityIn1Raw: totals.liquidityIn1Raw + positive(amount1Raw),
    liquidityOut0Raw: totals.liquidityOut0Raw + positive(-amount0Raw),
    liquidityOut1Raw: totals.liquidityOut1Raw + positive(-amount1Raw),
  };
}

export function countFeeCollection(totals: Activity, event: FeesCollected): Activity {
  const { amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin } = event;
  return {
    ...totals,
    transferCount:
      totals.transferCount + countNonZero(amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin),
    feesCollected0Raw: totals.feesCollected0Raw + amount0ToProtocol + amount0ToAdmin,
    feesCollected1Raw: totals.feesCollected1Raw + amount1ToProtocol + amount1ToAdmin,
  };
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function countNonZero(...amounts: readonly bigint[]): number {
  return amounts.filter((amount) => amount !== 0n).length;
}
