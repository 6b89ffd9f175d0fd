import { bigint, hex, index, int8, integer, onchainTable, text } from 'ponder';
import { chainId, keyOf, list, optionalList, stamp } from './columns.ts';

/** A token of a pool, as it describes itself; a field that it does not answer is null. Block: first pool with it. */
export const token = onchainTable(
  'token',
  {
    chainId: chainId(),
    address: hex().notNull(),
    symbol: text(),
    name: text(),
    decimals: integer(),
    ...stamp(),
  },
  keyOf('chainId', 'address'),
);

/** A pool: what it was created with, and what its admin and its factory decide. What trading changes is in `pool_state`. */
export const pool = onchainTable(
  'pool',
  {
    chainId: chainId(),
    address: hex().notNull(),
    factory: hex().notNull(),
    /** Number of the pool in its factory, from 1. */
    poolIdx: bigint().notNull(),
    token0: hex().notNull(),
    token1: hex().notNull(),
    /** Scaled units per raw unit. */
    token0ScaleMultiplier: bigint().notNull(),
    token1ScaleMultiplier: bigint().notNull(),
    lowestBin: integer().notNull(),
    highestBin: integer().notNull(),
    /** Of its bins, from the lowest upwards. */
    binLengthsE6: list('integer', 'bin_lengths_e6'),
    binAddFeesBuyE6: list('integer', 'bin_add_fees_buy_e6'),
    binAddFeesSellE6: list('integer', 'bin_add_fees_sell_e6'),
    /** Flat pools: raw units. Packed pools: scaled units. */
    initialAmount0PerShareE18: bigint('initial_amount0_per_share_e18').notNull(),
    initialAmount1PerShareE18: bigint('initial_amount1_per_share_e18').notNull(),
    minimalMintableLiquidity: bigint().notNull(),
    /** Sender of the creating transaction. */
    creator: hex().notNull(),
    createdBlockNumber: int8({ mode: 'number' }).notNull(),
    createdTimestamp: int8({ mode: 'number' }).notNull(),
    createdTransactionHash: hex().notNull(),
    admin: hex().notNull(),
    pendingAdmin: hex(),
    adminFeeDestination: hex().notNull(),
    /** Parts of the pool's fees as the factory holds them: 1e6 of spread and 1e8 of notional are all of it. */
    protocolSpreadFeeE6: integer('protocol_spread_fee_e6').notNull(),
    adminSpreadFeeE6: integer('admin_spread_fee_e6').notNull(),
    protocolNotionalFeeE8: integer('protocol_notional_fee_e8').notNull(),
    adminNotionalFeeE8: integer('admin_notional_fee_e8').notNull(),
    priceProvider: hex().notNull(),
    priceProviderSinceBlock: int8({ mode: 'number' }).notNull(),
    /** Wait between proposal and change of the provider; 2^256 - 1: it can never change. */
    priceProviderTimelockSecs: bigint().notNull(),
    pendingPriceProvider: hex(),
    pendingPriceProviderBlock: int8({ mode: 'number' }),
    pendingPriceProviderExecuteAfter: bigint(),
    /** Extension orders as emitted: 3-bit numbers of `pool_extension.position`, least significant first. */
    beforeAddLiquidityOrder: bigint().notNull(),
    afterAddLiquidityOrder: bigint().notNull(),
    beforeRemoveLiquidityOrder: bigint().notNull(),
    afterRemoveLiquidityOrder: bigint().notNull(),
    beforeSwapOrder: bigint().notNull(),
    afterSwapOrder: bigint().notNull(),
    ...stamp(),
  },
  (table) => ({
    ...keyOf('chainId', 'address')(table),
    byCreation: index().on(table.chainId, table.createdBlockNumber),
  }),
);

/** Extensions of a pool, in the order of its list. */
export const poolExtension = onchainTable(
  'pool_extension',
  {
    chainId: chainId(),
    pool: hex().notNull(),
    /** 1 to 7. */
    position: integer().notNull(),
    address: hex().notNull(),
    /** Moments at which the pool calls it: `beforeSwap`, `afterSwap`, `beforeAddLiquidity` and so on. */
    phases: text().array().notNull(),
    ...stamp(),
  },
  keyOf('chainId', 'pool', 'position'),
);

/**
 * What trading changes in a pool, from events alone: its storage slots 0 to 2 and those of its bins. Swaps of packed pools
 * report their raw amounts and words whose meaning depends on the factory: what follows from the words is null there.
 */
export const poolState = onchainTable(
  'pool_state',
  {
    chainId: chainId(),
    pool: hex().notNull(),
    /** 0 is active; any other value blocks swaps. */
    pauseLevel: integer().notNull(),
    /** The cursor, null of packed pools. */
    curBinIdx: integer(),
    /** 0 (lower edge) to 2^104 - 1 (upper edge). */
    curPosInBin: bigint(),
    /** Signed distance of the current bin's lower edge from the mid price. */
    curBinDistFromProvidedPriceE6: integer('cur_bin_dist_from_provided_price_e6'),
    spreadFeeE6: integer('spread_fee_e6').notNull(),
    notionalFeeE8: integer('notional_fee_e8').notNull(),
    /** Setting of packed pools; null until it changes, since no event of a pool's creation tells it. */
    bidAskRefAsymmetryX8: integer('bid_ask_ref_asymmetry_x8'),
    /** LP-owned balances of all bins together; null of packed pools. */
    total0Scaled: bigint(),
    total1Scaled: bigint(),
    /**
     * Of its bins, from the lowest upwards: LP-owned balances, shares, and what a swap needs of their places. Balances of
     * packed pools are what liquidity events moved, without swaps.
     */
    lowestBin: integer().notNull(),
    binBalances0Scaled: list('numeric(78)'),
    binBalances1Scaled: list('numeric(78)'),
    /** Packed pools: sums of `binDeltas`, scaled or raw units, which depends on the factory. */
    binSwapDeltas0: optionalList('numeric(78)'),
    binSwapDeltas1: optionalList('numeric(78)'),
    binShares: list('numeric(78)'),
    /** Signed distance of a bin's lower edge from the mid price: fixed permanently. */
    binLowerDistsE6: list('integer', 'bin_lower_dists_e6'),
    /** Notional fees accrued and not yet collected; null of packed pools. */
    notionalFee0Scaled: bigint(),
    notionalFee1Scaled: bigint(),
    /** Token balances, uncollected fees included; tokens sent to the pool without a call of it do not count. */
    balance0Raw: bigint().notNull(),
    balance1Raw: bigint().notNull(),
    /** Key of the pool's newest row of `pool_activity`. */
    activityTimestamp: int8({ mode: 'number' }),
    /** The totals in that row, so that it need not be read to count on. */
    activityTotals: list('numeric(78)'),
    lastSwapTransactionHash: hex(),
    ...stamp(),
  },
  keyOf('chainId', 'pool'),
);

export type PoolRow = typeof pool.$inferSelect;
export type PoolStateRow = typeof poolState.$inferSelect;
