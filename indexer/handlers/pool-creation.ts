import type { Address } from 'viem';
import type { EventLayout } from '../../protocol/layout.ts';
import type { PoolCreation } from '../../protocol/pool-events.ts';
import { type TokenScale, tokenScale } from '../../protocol/scaling.ts';
import { NO_ACTIVITY, NO_PACKED_ACTIVITY } from '../reducers/activity.ts';
import { FIRST_BIN, lowerDistances } from '../reducers/bins.ts';
import { arrayLiteral } from '../schema/number-list.ts';
import { poolExtension, poolState, pool as poolTable } from '../schema/pools.ts';
import { readScale } from './chain-reads.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';
import { recordTokens } from './tokens.ts';

/** Who made a pool: the sender of the creating transaction; and how the pool logs. */
interface Creator {
  readonly sender: Address;
  readonly layout: EventLayout;
}

/** Adds a pool with all fields of `PoolCreated`, its bins, and its tokens if they are new to the index. */
export async function recordPoolCreation(
  context: HandlerContext,
  place: LogPlace,
  creation: PoolCreation,
  { sender, layout }: Creator,
): Promise<void> {
  const scale = await recordTokensAndReadScale(context, place, creation);
  await context.db.insert(poolTable).values(poolRow(place, creation, sender, scale));
  await context.db.insert(poolState).values(initialState(place, creation, layout));
  const key = { chainId: place.chainId, pool: creation.pool, ...stampOf(place) };
  const extensions = creation.extensions.map(({ address, phases }, index) => ({
    ...key,
    position: index + 1,
    address,
    phases: [...phases],
  }));
  if (extensions.length > 0) await context.db.insert(poolExtension).values(extensions);
}

/** @throws RangeError when the pool does not report its scale and a token not its decimals: they are never guessed */
async function recordTokensAndReadScale(
  context: HandlerContext,
  place: LogPlace,
  { pool, token0, token1 }: PoolCreation,
): Promise<TokenScale> {
  const [scale, [decimals0 = null, decimals1 = null]] = await Promise.all([
    readScale(context, pool),
    recordTokens(context, place, [token0, token1]),
  ]);
  if (scale !== null) return scale;
  // The pool does not respond at the head of the chain, for example because a reorganisation removed it.
  if (decimals0 === null || decimals1 === null) {
    throw new RangeError(`pool ${pool} does not answer getImmutables and a token of it no decimals`);
  }
  return tokenScale(decimals0, decimals1);
}

function poolRow(place: LogPlace, creation: PoolCreation, sender: Address, scale: TokenScale) {
  const { pool, bins, extensions, extensionOrders, curBinDistE6, priceProviderTimelock, ...facts } = creation;
  const binNumbers = bins.map(({ bin }) => bin);
  return {
    ...facts,
    ...stampOf(place),
    chainId: place.chainId,
    address: pool,
    token0ScaleMultiplier: scale.multiplier0,
    token1ScaleMultiplier: scale.multiplier1,
    lowestBin: Math.min(...binNumbers),
    highestBin: Math.max(...binNumbers),
    binLengthsE6: arrayLiteral(bins.map(({ lengthE6 }) => lengthE6)),
    binAddFeesBuyE6: arrayLiteral(bins.map(({ addFeeBuyE6 }) => addFeeBuyE6)),
    binAddFeesSellE6: arrayLiteral(bins.map(({ addFeeSellE6 }) => addFeeSellE6)),
    creator: sender,
    createdBlockNumber: place.blockNumber,
    createdTimestamp: place.blockTimestamp,
    createdTransactionHash: place.transactionHash,
    priceProviderSinceBlock: place.blockNumber,
    priceProviderTimelockSecs: priceProviderTimelock,
    beforeAddLiquidityOrder: extensionOrders.beforeAddLiquidity,
    afterAddLiquidityOrder: extensionOrders.afterAddLiquidity,
    beforeRemoveLiquidityOrder: extensionOrders.beforeRemoveLiquidity,
    afterRemoveLiquidityOrder: extensionOrders.afterRemoveLiquidity,
    beforeSwapOrder: extensionOrders.beforeSwap,
    afterSwapOrder: extensionOrders.afterSwap,
  };
}

function initialState(place: LogPlace, creation: PoolCreation, { logsSwapState }: EventLayout) {
  const empty = arrayLiteral(creation.bins.map(() => 0));
  return {
    ...stampOf(place),
    chainId: place.chainId,
    pool: creation.pool,
    pauseLevel: 0,
    spreadFeeE6: creation.protocolSpreadFeeE6 + creation.adminSpreadFeeE6,
    notionalFeeE8: creation.protocolNotionalFeeE8 + creation.adminNotionalFeeE8,
    lowestBin: Math.min(...creation.bins.map(({ bin }) => bin)),
    binBalances0Scaled: empty,
    binBalances1Scaled: empty,
    binShares: empty,
    binLowerDistsE6: arrayLiteral(lowerDistances(creation)),
    balance0Raw: 0n,
    balance1Raw: 0n,
    activityTimestamp: null,
    lastSwapTransactionHash: null,
    ...(logsSwapState
      ? {
          activityTotals: NO_ACTIVITY,
          curBinIdx: FIRST_BIN,
          curPosInBin: 0n,
          curBinDistFromProvidedPriceE6: creation.curBinDistE6,
          total0Scaled: 0n,
          total1Scaled: 0n,
          notionalFee0Scaled: 0n,
          notionalFee1Scaled: 0n,
        }
      : { activityTotals: NO_PACKED_ACTIVITY, binSwapDeltas0: empty, binSwapDeltas1: empty }),
  };
}
