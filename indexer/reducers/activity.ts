import type { FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import type { LiquiditySums } from './liquidity.ts';
import type { SwapFees } from './swap.ts';

const COUNTS = ['swapCount', 'swapTxCount', 'liquidityAddCount', 'liquidityRemoveCount', 'transferCount'] as const;
const AMOUNTS = [
  ...(['swapIn0Raw', 'swapIn1Raw', 'swapOut0Raw', 'swapOut1Raw'] as const),
  ...(['liquidityIn0Raw', 'liquidityIn1Raw', 'liquidityOut0Raw', 'liquidityOut1Raw'] as const),
  ...(['feesCollected0Raw', 'feesCollected1Raw'] as const),
  ...(['lpFee0Scaled', 'lpFee1Scaled', 'protocolFee0Scaled', 'protocolFee1Scaled'] as const),
  ...(['notionalFee0Scaled', 'notionalFee1Scaled'] as const),
] as const;

/** Running totals of a pool: the columns of `pool_activity`. They only grow. */
export type Activity = Record<(typeof COUNTS)[number], number> & Record<(typeof AMOUNTS)[number], bigint>;

/** What one log adds to the totals. */
export type ActivityGain = Partial<Activity>;

/** @param totals null before a pool's first activity */
export function addActivity(totals: Activity | null, gain: ActivityGain): Activity {
  // Field by field: rows from Ponder are proxies, which are slow to copy as a whole.
  const sum = {} as Activity;
  for (const key of COUNTS) sum[key] = (totals?.[key] ?? 0) + (gain[key] ?? 0);
  for (const key of AMOUNTS) sum[key] = (totals?.[key] ?? 0n) + (gain[key] ?? 0n);
  return sum;
}

/** @param newTransaction false when the pool's previous swap was of the same transaction */
export function swapGain(
  { amount0Delta, amount1Delta }: Swapped,
  fees: SwapFees,
  newTransaction: boolean,
): ActivityGain {
  const { lpFeeScaled, protocolFeeScaled, notionalFee0Scaled, notionalFee1Scaled } = fees;
  return {
    swapCount: 1,
    swapTxCount: newTransaction ? 1 : 0,
    transferCount: countNonZero(amount0Delta, amount1Delta),
    swapIn0Raw: positive(amount0Delta),
    swapIn1Raw: positive(amount1Delta),
    swapOut0Raw: positive(-amount0Delta),
    swapOut1Raw: positive(-amount1Delta),
    ...(fees.zeroForOne
      ? { lpFee0Scaled: lpFeeScaled, protocolFee0Scaled: protocolFeeScaled }
      : { lpFee1Scaled: lpFeeScaled, protocolFee1Scaled: protocolFeeScaled }),
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
