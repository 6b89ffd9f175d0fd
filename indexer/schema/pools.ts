import { bigint, hex, index, int8, integer, onchainTable, text } from 'ponder';
import { chainId, keyOf, list, optionalList, stamp } from './columns.ts';

/** A token of a pool, as it describes itself. Fields that it does not return are null. Block: its first pool's. */
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

/** A pool as it was created, with later decisions of its admin and factory. `pool_state` has what trading changes. */
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
    /** This list and the next two have one entry per bin, from the lowest bin upwards. */
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
    /** Fees of protocol and admin, as the factory stores them: 1e6 is the whole spread, 1e8 the whole notional. */
    protocolSpreadFeeE6: integer('protocol_spread_fee_e6').notNull(),
    adminSpreadFeeE6: integer('admin_spread_fee_e6').notNull(),
    protocolNotionalFeeE8: integer('protocol_notional_fee_e8').notNull(),
    adminNotionalFeeE8: integer('admin_notional_fee_e8').notNull(),
    priceProvider: hex().notNull(),
    priceProviderSinceBlock: int8({ mode: 'number' }).notNull(),
    /** Wait between proposal and change of the provider; 2^256 - 1 means that it can never change. */
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

/** Extensions of a pool, with their positions in its list. */
export const poolExtension = onchainTable(
  'pool_extension',
  {
    chainId: chainId(),
    pool: hex().notNull(),
    /** 1 to 7. */
    position: integer().notNull(),
    address: hex().notNull(),
    /** Phases in which the pool calls it: `beforeSwap`, `afterSwap`, `beforeAddLiquidity` and so on. */
    phases: text().array().notNull(),
    ...stamp(),
  },
  keyOf('chainId', 'pool', 'position'),
);

/**
 * What trading changes in a pool: its storage slots 0 to 2 and those of its bins, computed only from events. Swaps of
 * packed pools report raw amounts, and words whose meaning depends on the factory. Columns that need the words are null
 * for them.
 */
export const poolState = onchainTable(
  'pool_state',
  {
    chainId: chainId(),
    pool: hex().notNull(),
    /** 0 is active; any other value blocks swaps. */
    pauseLevel: integer().notNull(),
    /** The cursor; null for packed pools. */
    curBinIdx: integer(),
    /** 0 (lower edge) to 2^104 - 1 (upper edge). */
    curPosInBin: bigint(),
    /** Signed distance of the current bin's lower edge from the mid price. */
    curBinDistFromProvidedPriceE6: integer('cur_bin_dist_from_provided_price_e6'),
    spreadFeeE6: integer('spread_fee_e6').notNull(),
    notionalFeeE8: integer('notional_fee_e8').notNull(),
    /** Setting of packed pools. Null until it changes: no event of a pool's creation reports it. */
    bidAskRefAsymmetryX8: integer('bid_ask_ref_asymmetry_x8'),
    /** LP-owned balances of all bins together; null for packed pools. */
    total0Scaled: bigint(),
    total1Scaled: bigint(),
    /**
     * Lists with one entry per bin, from the lowest bin upwards: LP-owned balances, shares, and distances that swaps
     * need. Balances of packed pools sum liquidity events only, without swaps.
     */
    lowestBin: integer().notNull(),
    binBalances0Scaled: list('numeric(78)'),
    binBalances1Scaled: list('numeric(78)'),
    /** Packed pools: sums of `binDeltas`, in scaled or raw units, depending on the factory. */
    binSwapDeltas0: optionalList('numeric(78)'),
    binSwapDeltas1: optionalList('numeric(78)'),
    binShares: list('numeric(78)'),
    /** Signed distance of each bin's lower edge from the mid price. It never changes. */
    binLowerDistsE6: list('integer', 'bin_lower_dists_e6'),
    /** Notional fees that accrued and are not yet collected; null for packed pools. */
    notionalFee0Scaled: bigint(),
    notionalFee1Scaled: bigint(),
    /** Token balances, including uncollected fees. Tokens sent to the pool without a call to it do not count. */
    balance0Raw: bigint().notNull(),
    balance1Raw: bigint().notNull(),
    /** Timestamp of the newest row of the pool in `pool_activity`. */
    activityTimestamp: int8({ mode: 'number' }),
    /** The totals of that row, so that the next log need not read it. */
    activityTotals: list('numeric(78)'),
    lastSwapTransactionHash: hex(),
    ...stamp(),
  },
  keyOf('chainId', 'pool'),
);

export type PoolRow = typeof pool.$inferSelect;
export type PoolStateRow = typeof poolState.$inferSelect;
