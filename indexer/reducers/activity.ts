import type { FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import type { LiquiditySums } from './liquidity.ts';
import type { SwapFees } from './swap.ts';

/** A new pool's. */
export const NO_ACTIVITY = {
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

const TOTALS = Object.keys(NO_ACTIVITY).length;

/** Running totals of a pool: the columns of `pool_activity`. They only grow. */
export type Activity = typeof NO_ACTIVITY;

/** What one log adds to the totals. */
export type ActivityGain = Partial<Activity>;

/** Totals with what a log added. */
export function addActivity(sum: Activity, gain: ActivityGain): Activity {
  // One literal: an object that gets its fields one by one, or as a copy of a row's, costs several times as much.
  return {
    swapCount: sum.swapCount + (gain.swapCount ?? 0),
    swapTxCount: sum.swapTxCount + (gain.swapTxCount ?? 0),
    liquidityAddCount: sum.liquidityAddCount + (gain.liquidityAddCount ?? 0),
    liquidityRemoveCount: sum.liquidityRemoveCount + (gain.liquidityRemoveCount ?? 0),
    transferCount: sum.transferCount + (gain.transferCount ?? 0),
    swapIn0Raw: sum.swapIn0Raw + (gain.swapIn0Raw ?? 0n),
    swapIn1Raw: sum.swapIn1Raw + (gain.swapIn1Raw ?? 0n),
    swapOut0Raw: sum.swapOut0Raw + (gain.swapOut0Raw ?? 0n),
    swapOut1Raw: sum.swapOut1Raw + (gain.swapOut1Raw ?? 0n),
    liquidityIn0Raw: sum.liquidityIn0Raw + (gain.liquidityIn0Raw ?? 0n),
    liquidityIn1Raw: sum.liquidityIn1Raw + (gain.liquidityIn1Raw ?? 0n),
    liquidityOut0Raw: sum.liquidityOut0Raw + (gain.liquidityOut0Raw ?? 0n),
    liquidityOut1Raw: sum.liquidityOut1Raw + (gain.liquidityOut1Raw ?? 0n),
    feesCollected0Raw: sum.feesCollected0Raw + (gain.feesCollected0Raw ?? 0n),
    feesCollected1Raw: sum.feesCollected1Raw + (gain.feesCollected1Raw ?? 0n),
    lpFee0Scaled: sum.lpFee0Scaled + (gain.lpFee0Scaled ?? 0n),
    lpFee1Scaled: sum.lpFee1Scaled + (gain.lpFee1Scaled ?? 0n),
    protocolFee0Scaled: sum.protocolFee0Scaled + (gain.protocolFee0Scaled ?? 0n),
    protocolFee1Scaled: sum.protocolFee1Scaled + (gain.protocolFee1Scaled ?? 0n),
    notionalFee0Scaled: sum.notionalFee0Scaled + (gain.notionalFee0Scaled ?? 0n),
    notionalFee1Scaled: sum.notionalFee1Scaled + (gain.notionalFee1Scaled ?? 0n),
  };
}

/** Totals as one text, with commas between them: one column of a row that is read and written with every log. */
export function activityText(activity: Activity): string {
  return Object.values(activity).join();
}

/**
 * @param text of {@link activityText}; null before a pool's first activity
 * @throws RangeError when there are not as many totals in it as there should be
 */
export function parseActivity(text: string | null): Activity {
  if (text === null) return NO_ACTIVITY;
  const values = text.split(',');
  if (values.length !== TOTALS) throw new RangeError(`${values.length} totals of a pool's activity, not ${TOTALS}`);
  let next = 0;
  const count = () => Number(values[next++]);
  const amount = () => BigInt(values[next++] ?? '');
  // In the order of the keys of a new pool's.
  return {
    swapCount: count(),
    swapTxCount: count(),
    liquidityAddCount: count(),
    liquidityRemoveCount: count(),
    transferCount: count(),
    swapIn0Raw: amount(),
    swapIn1Raw: amount(),
    swapOut0Raw: amount(),
    swapOut1Raw: amount(),
    liquidityIn0Raw: amount(),
    liquidityIn1Raw: amount(),
    liquidityOut0Raw: amount(),
    liquidityOut1Raw: amount(),
    feesCollected0Raw: amount(),
    feesCollected1Raw: amount(),
    lpFee0Scaled: amount(),
    lpFee1Scaled: amount(),
    protocolFee0Scaled: amount(),
    protocolFee1Scaled: amount(),
    notionalFee0Scaled: amount(),
    notionalFee1Scaled: amount(),
  };
}

/** @param newTransaction false when the pool's previous swap was of the same transaction */
export function swapGain(
  { amount0Delta, amount1Delta }: Swapped,
  fees: SwapFees,
  newTransaction: boolean,
): ActivityGain {
  const { zeroForOne, lpFeeScaled, protocolFeeScaled, notionalFee0Scaled, notionalFee1Scaled } = fees;
  return {
    swapCount: 1,
    swapTxCount: newTransaction ? 1 : 0,
    transferCount: countNonZero(amount0Delta, amount1Delta),
    swapIn0Raw: positive(amount0Delta),
    swapIn1Raw: positive(amount1Delta),
    swapOut0Raw: positive(-amount0Delta),
    swapOut1Raw: positive(-amount1Delta),
    lpFee0Scaled: zeroForOne ? lpFeeScaled : 0n,
    lpFee1Scaled: zeroForOne ? 0n : lpFeeScaled,
    protocolFee0Scaled: zeroForOne ? protocolFeeScaled : 0n,
    protocolFee1Scaled: zeroForOne ? 0n : protocolFeeScaled,
    notionalFee0Scaled,
    notionalFee1Scaled,
  };
}

export function liquidityGain(
  direction: LiquidityChanged['direction'],
  { amount0Raw, amount1Raw }: LiquiditySums,
): ActivityGain {
  const transferCount = countNonZero(amount0Raw, amount1Raw);
  return direction === 'added'
    ? { liquidityAddCount: 1, transferCount, liquidityIn0Raw: amount0Raw, liquidityIn1Raw: amount1Raw }
    : { liquidityRemoveCount: 1, transferCount, liquidityOut0Raw: -amount0Raw, liquidityOut1Raw: -amount1Raw };
}

export function collectionGain(event: FeesCollected): ActivityGain {
  const { amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin } = event;
  return {
    transferCount: countNonZero(amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin),
    feesCollected0Raw: amount0ToProtocol + amount0ToAdmin,
    feesCollected1Raw: amount1ToProtocol + amount1ToAdmin,
  };
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function countNonZero(...amounts: readonly bigint[]): number {
  return amounts.filter((amount) => amount !== 0n).length;
}
