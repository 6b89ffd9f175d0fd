import type { Address } from 'viem';
import type { BinSwapped, FeesCollected, LiquidityChanged, Swapped } from '../../protocol/pool-events.ts';
import { collectionGain, liquidityGain, swapGain } from '../reducers/activity.ts';
import { sumLiquidityChange } from '../reducers/liquidity.ts';
import { isZeroForOne, type SwapFees, settleSwap } from '../reducers/swap.ts';
import { arrayLiteral } from '../schema/columns.ts';
import { feeCollection, liquidityChange, liquidityChangeBin, swap } from '../schema/pool-events.ts';
import { poolBin, pool as poolTable } from '../schema/pools.ts';
import { advancePool } from './activity.ts';
import { type HandlerContext, type LogPlace, type LogReference, stampOf } from './context.ts';
import { OpenSwaps, type SwapPart } from './open-swaps.ts';
import { required } from './required.ts';

/*
 * These run for every log of every pool, so their rows are built the way V8 is quick at: in one literal, with spreads
 * last. A spread that comes first leaves no room for the fields after it, which then cost twenty times as much.
 */

const openSwaps = new OpenSwaps();

/** Keeps the bin's part for the swap that it belongs to, which is logged next. */
export function holdBinSwap(reference: LogReference, pool: Address, event: BinSwapped): void {
  openSwaps.add(reference, pool, event);
}

export async function recordSwap(
  context: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: Swapped,
): Promise<void> {
  const { db } = context;
  const { transactionHash } = place;
  const parts = openSwaps.take(place, pool);
  const lowerDistE6 = await moveSwappedBins(context, place, pool, parts, event.curBin);
  const { fees } = await advancePool(context, place, pool, (state) => {
    const { state: settled, fees } = settleSwap(state, parts, event, lowerDistE6);
    const gain = swapGain(event, fees, state.lastSwapTransactionHash !== transactionHash);
    return { changes: { lastSwapTransactionHash: transactionHash, ...settled }, gain, fees };
  });
  await db.insert(swap).values(swapRow(place, pool, event, fees, parts));
}

function swapRow(place: LogPlace, pool: Address, event: Swapped, fees: SwapFees, parts: readonly SwapPart[]) {
  return {
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
    binLogIndexes: arrayLiteral(parts.map(({ logIndex }) => logIndex)),
    binIdxs: arrayLiteral(parts.map(({ bin }) => bin)),
    binDeltas0Scaled: arrayLiteral(parts.map(({ delta0Scaled }) => delta0Scaled)),
    binDeltas1Scaled: arrayLiteral(parts.map(({ delta1Scaled }) => delta1Scaled)),
    binLpFeesScaled: arrayLiteral(parts.map(({ lpFeeScaled }) => lpFeeScaled)),
    ...place,
  };
}

/** Returns the distance of the lower edge of the bin that the cursor is in now. */
async function moveSwappedBins(
  { db }: HandlerContext,
  place: LogPlace,
  pool: Address,
  parts: readonly SwapPart[],
  curBin: number,
): Promise<number> {
  const keyOf = (binIdx: number) => ({ chainId: place.chainId, pool, binIdx });
  const stamp = stampOf(place);
  let lowerDistE6: number | undefined;
  for (const { bin, delta0Scaled, delta1Scaled } of parts) {
    const moved = await db.update(poolBin, keyOf(bin)).set(({ token0Scaled, token1Scaled }) => ({
      token0Scaled: token0Scaled + delta0Scaled,
      token1Scaled: token1Scaled + delta1Scaled,
      ...stamp,
    }));
    if (bin === curBin) lowerDistE6 = moved.lowerDistE6;
  }
  return lowerDistE6 ?? required(await db.find(poolBin, keyOf(curBin)), 'bin of pool', pool).lowerDistE6;
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
  await advancePool(context, place, pool, (state) => ({
    changes: {
      total0Scaled: state.total0Scaled + sums.delta0Scaled,
      total1Scaled: state.total1Scaled + sums.delta1Scaled,
      balance0Raw: state.balance0Raw + sums.amount0Raw,
      balance1Raw: state.balance1Raw + sums.amount1Raw,
    },
    gain: liquidityGain(direction, sums),
  }));
  await db.insert(liquidityChange).values({ pool, direction, provider, salt, ...sums, ...place });
  const rows = changes.map(({ bin: binIdx, ...deltas }) => ({ pool, binIdx, ...deltas, ...place }));
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
  await advancePool(context, place, pool, (state) => ({
    changes: {
      notionalFee0Scaled: 0n,
      notionalFee1Scaled: 0n,
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
