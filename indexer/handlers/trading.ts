import type { Address } from 'viem';
import type { BinSwapped, FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import { countFeeCollection, countLiquidityChange, countSwap } from '../reducers/activity.ts';
import { sumLiquidityChange } from '../reducers/liquidity.ts';
import { addBinSwap, isZeroForOne, settleSwap } from '../reducers/swap.ts';
import { binSwap, feeCollection, liquidityChange, liquidityChangeBin, swap } from '../schema/pool-events.ts';
import { poolBin, poolState, pool as poolTable } from '../schema/pools.ts';
import { advanceActivity } from './activity.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';
import { required } from './required.ts';

export async function recordBinSwap(
  { db }: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: BinSwapped,
): Promise<void> {
  const { chainId } = place;
  const stamp = stampOf(place);
  const { bin: binIdx, delta0Scaled, delta1Scaled, lpFeeScaled } = event;
  await db.update(poolBin, { chainId, pool, binIdx }).set((bin) => ({
    token0Scaled: bin.token0Scaled + delta0Scaled,
    token1Scaled: bin.token1Scaled + delta1Scaled,
    ...stamp,
  }));
  await db.update(poolState, { chainId, pool }).set((state) => ({ ...addBinSwap(state, event), ...stamp }));
  await db.insert(binSwap).values({ ...place, pool, binIdx, delta0Scaled, delta1Scaled, lpFeeScaled });
}

export async function recordSwap(
  context: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: Swapped,
): Promise<void> {
  const { db } = context;
  const { chainId, transactionHash } = place;
  const state = required(await db.find(poolState, { chainId, pool }), 'state of pool', pool);
  const lowerDistE6 =
    event.curBin === state.curBinIdx
      ? state.curBinDistFromProvidedPriceE6
      : required(await db.find(poolBin, { chainId, pool, binIdx: event.curBin }), 'bin of pool', pool).lowerDistE6;
  const { state: changes, fees } = settleSwap(state, event, lowerDistE6);
  const newTransaction = state.lastSwapTransactionHash !== transactionHash;
  await advanceActivity(context, place, state, (totals) => countSwap(totals, event, fees, newTransaction));
  await db.update(poolState, { chainId, pool }).set({
    ...changes,
    ...stampOf(place),
    activityTimestamp: place.blockTimestamp,
    lastSwapTransactionHash: transactionHash,
  });
  await db.insert(swap).values({
    ...place,
    pool,
    sender: event.sender,
    recipient: event.recipient,
    zeroForOne: isZeroForOne(event),
    exactInput: event.exactInput,
    amount0Raw: event.amount0Delta,
    amount1Raw: event.amount1Delta,
    lpFeeScaled: fees.lpFeeScaled,
    protocolFeeScaled: fees.protocolFeeScaled,
    notionalFeeScaled: fees.notionalFee0Scaled + fees.notionalFee1Scaled,
    curBinIdx: event.curBin,
    curPosInBin: event.posInBin,
  });
}

export async function recordLiquidityChange(
  context: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: LiquidityChanged,
): Promise<void> {
  const { db } = context;
  const { chainId } = place;
  const { direction, provider, salt, changes } = event;
  const sums = sumLiquidityChange(event, required(await db.find(poolTable, { chainId, address: pool }), 'pool', pool));
  await moveBins(context, place, pool, changes);
  const state = required(await db.find(poolState, { chainId, pool }), 'state of pool', pool);
  await advanceActivity(context, place, state, (totals) => countLiquidityChange(totals, direction, sums));
  await db.update(poolState, { chainId, pool }).set({
    total0Scaled: state.total0Scaled + sums.delta0Scaled,
    total1Scaled: state.total1Scaled + sums.delta1Scaled,
    balance0Raw: state.balance0Raw + sums.amount0Raw,
    balance1Raw: state.balance1Raw + sums.amount1Raw,
    activityTimestamp: place.blockTimestamp,
    ...stampOf(place),
  });
  await db.insert(liquidityChange).values({ ...place, pool, direction, provider, salt, ...sums });
  const rows = changes.map(({ bin: binIdx, ...deltas }) => ({ ...place, pool, binIdx, ...deltas }));
  if (rows.length > 0) await db.insert(liquidityChangeBin).values(rows);
}

async function moveBins(
  { db }: HandlerContext,
  place: LogPlace,
  pool: Address,
  changes: LiquidityChanged['changes'],
): Promise<void> {
  for (const { bin: binIdx, delta0Scaled, delta1Scaled, sharesDelta } of changes) {
    await db.update(poolBin, { chainId: place.chainId, pool, binIdx }).set((bin) => ({
      token0Scaled: bin.token0Scaled + delta0Scaled,
      token1Scaled: bin.token1Scaled + delta1Scaled,
      totalShares: bin.totalShares + sharesDelta,
      ...stampOf(place),
    }));
  }
}

/** Fees leave the pool: what had accrued of the notional fee is paid out with the rest. */
export async function recordFeeCollection(
  context: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: FeesCollected,
): Promise<void> {
  const { db } = context;
  const key = { chainId: place.chainId, pool };
  const state = required(await db.find(poolState, key), 'state of pool', pool);
  await advanceActivity(context, place, state, (totals) => countFeeCollection(totals, event));
  await db.update(poolState, key).set({
    notionalFee0Scaled: 0n,
    notionalFee1Scaled: 0n,
    balance0Raw: state.balance0Raw - event.amount0ToProtocol - event.amount0ToAdmin,
    balance1Raw: state.balance1Raw - event.amount1ToProtocol - event.amount1ToAdmin,
    activityTimestamp: place.blockTimestamp,
    ...stampOf(place),
  });
  await db.insert(feeCollection).values({
    ...place,
    pool,
    amount0ToProtocolRaw: event.amount0ToProtocol,
    amount1ToProtocolRaw: event.amount1ToProtocol,
    amount0ToAdminRaw: event.amount0ToAdmin,
    amount1ToAdminRaw: event.amount1ToAdmin,
  });
}
