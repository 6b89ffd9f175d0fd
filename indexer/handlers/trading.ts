import type { Address } from 'viem';
import type { BinSwapped, FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import { collectionGain, liquidityGain, swapGain } from '../../protocol/pool-totals.ts';
import { changeShares, moveBins } from '../reducers/bins.ts';
import { sumLiquidityChange } from '../reducers/liquidity.ts';
import { addIfKnown, isZeroForOne, settleSwap } from '../reducers/swap.ts';
import { arrayLiteral } from '../schema/number-list.ts';
import { feeCollection, liquidityChange, liquidityChangeBin, swap } from '../schema/pool-events.ts';
import { pool as poolTable } from '../schema/pools.ts';
import { required } from '../schema/required.ts';
import { advancePool } from './activity.ts';
import type { HandlerContext, LogPlace, SentPlace } from './context.ts';
import { OpenSwaps } from './open-swaps.ts';

/*
 * These functions run for every log of every pool. They build each row in one object literal with the spreads last,
 * which V8 does fast. After a spread that comes first, V8 has no room for the other fields, and they cost twenty times
 * as much.
 */

/** Bin parts of swaps whose `Swap` log is still to come. */
export const openSwaps = new OpenSwaps<BinSwapped>();

/** Adds a swap with the parts of its bins. */
export async function recordSwap(
  context: HandlerContext,
  place: SentPlace,
  pool: Address,
  event: Swapped,
): Promise<void> {
  const { transactionHash } = place;
  const parts = openSwaps.take(place, pool);
  const { fees } = await advancePool(context, place, pool, (state) => {
    const { state: settled, fees } = settleSwap(state, parts, event);
    const gain = swapGain(event, fees, state.lastSwapTransactionHash !== transactionHash);
    return { changes: { lastSwapTransactionHash: transactionHash, ...settled }, gain, fees };
  });
  await context.db.insert(swap).values({
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
    parts: arrayLiteral(
      parts.map(({ logIndex, bin, delta0Scaled, delta1Scaled, lpFeeScaled }) =>
        arrayLiteral([logIndex, bin, delta0Scaled, delta1Scaled, lpFeeScaled]),
      ),
    ),
    ...place,
  });
}

/** Adds a deposit or withdrawal with its bins. */
export async function recordLiquidityChange(
  context: HandlerContext,
  place: SentPlace,
  pool: Address,
  event: LiquidityChanged,
): Promise<void> {
  const { db } = context;
  const { chainId, blockNumber, blockTimestamp, logIndex, transactionHash } = place;
  const { direction, provider, salt, changes } = event;
  const sums = sumLiquidityChange(event, required(await db.find(poolTable, { chainId, address: pool }), 'pool', pool));
  await advancePool(context, place, pool, (state) => ({
    changes: {
      total0Scaled: addIfKnown(state.total0Scaled, sums.delta0Scaled),
      total1Scaled: addIfKnown(state.total1Scaled, sums.delta1Scaled),
      balance0Raw: state.balance0Raw + sums.amount0Raw,
      balance1Raw: state.balance1Raw + sums.amount1Raw,
      binShares: changeShares(state, changes),
      ...moveBins(state, changes),
    },
    gain: liquidityGain(direction, sums),
  }));
  await db.insert(liquidityChange).values({ pool, direction, provider, salt, ...sums, ...place });
  const at = { chainId, blockNumber, blockTimestamp, logIndex, transactionHash };
  const rows = changes.map(({ bin: binIdx, ...deltas }) => ({ pool, binIdx, ...deltas, ...at }));
  if (rows.length > 0) await db.insert(liquidityChangeBin).values(rows);
}

/** Adds a fee collection. It pays out all fees, so the accrued notional fees start at zero again. */
export async function recordFeeCollection(
  context: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: FeesCollected,
): Promise<void> {
  await advancePool(context, place, pool, (state) => ({
    changes: {
      notionalFee0Scaled: state.notionalFee0Scaled === null ? null : 0n,
      notionalFee1Scaled: state.notionalFee1Scaled === null ? null : 0n,
      balance0Raw: state.balance0Raw - event.amount0ToProtocol - event.amount0ToAdmin,
      balance1Raw: state.balance1Raw - event.amount1ToProtocol - event.amount1ToAdmin,
    },
    gain: collectionGain(event),
  }));
  await context.db.insert(feeCollection).values({
    pool,
    amount0ToProtocolRaw: event.amount0ToProtocol,
    amount1ToProtocolRaw: event.amount1ToProtocol,
    amount0ToAdminRaw: event.amount0ToAdmin,
    amount1ToAdminRaw: event.amount1ToAdmin,
    ...place,
  });
}
