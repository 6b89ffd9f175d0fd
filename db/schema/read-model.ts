import { boolean, integer, type PgColumnBuilderBase, pgSchema, text } from 'drizzle-orm/pg-core';
import { EXTENSION_PHASES } from '../../protocol/pool-events.ts';
import { address, hex, int8, wide } from './columns.ts';

/*
 * Views of `read_model`, with the columns that code reads. Migrations make them over the tables of the served index.
 * `docs/use/sql.md` explains the columns.
 */
const readModel = pgSchema('read_model');

const view = <Name extends string, Columns extends Record<string, PgColumnBuilderBase>>(name: Name, columns: Columns) =>
  readModel.view(name, columns).existing();

export const tokens = view('token', {
  chainId: int8('chain_id').notNull(),
  address: address('address').notNull(),
  symbol: text('symbol'),
  name: text('name'),
  decimals: integer('decimals'),
});

export const pools = view('pool', {
  chainId: int8('chain_id').notNull(),
  address: address('address').notNull(),
  factory: address('factory').notNull(),
  poolIdx: wide('pool_idx').notNull(),
  pair: text('pair').notNull(),
  token0: address('token0').notNull(),
  token1: address('token1').notNull(),
  token0Symbol: text('token0_symbol'),
  token1Symbol: text('token1_symbol'),
  token0Decimals: integer('token0_decimals'),
  token1Decimals: integer('token1_decimals'),
  token0ScaleMultiplier: wide('token0_scale_multiplier').notNull(),
  token1ScaleMultiplier: wide('token1_scale_multiplier').notNull(),
  lowestBin: integer('lowest_bin').notNull(),
  highestBin: integer('highest_bin').notNull(),
  creator: address('creator').notNull(),
  createdBlockNumber: int8('created_block_number').notNull(),
  createdTimestamp: int8('created_timestamp').notNull(),
  admin: address('admin').notNull(),
  adminFeeDestination: address('admin_fee_destination').notNull(),
  protocolSpreadFeeE6: integer('protocol_spread_fee_e6').notNull(),
  adminSpreadFeeE6: integer('admin_spread_fee_e6').notNull(),
  protocolNotionalFeeE8: integer('protocol_notional_fee_e8').notNull(),
  adminNotionalFeeE8: integer('admin_notional_fee_e8').notNull(),
  priceProvider: address('price_provider').notNull(),
  priceProviderSinceBlock: int8('price_provider_since_block').notNull(),
  priceProviderTimelockSecs: wide('price_provider_timelock_secs').notNull(),
  pendingPriceProvider: address('pending_price_provider'),
  pendingPriceProviderBlock: int8('pending_price_provider_block'),
  pendingPriceProviderExecuteAfter: wide('pending_price_provider_execute_after'),
});

export const poolStates = view('pool_state', {
  chainId: int8('chain_id').notNull(),
  pool: address('pool').notNull(),
  pauseLevel: integer('pause_level').notNull(),
  curBinIdx: integer('cur_bin_idx'),
  liquidity0Raw: wide('liquidity0_raw'),
  liquidity1Raw: wide('liquidity1_raw'),
  balance0Raw: wide('balance0_raw').notNull(),
  balance1Raw: wide('balance1_raw').notNull(),
});

export const poolExtensions = view('pool_extension', {
  chainId: int8('chain_id').notNull(),
  pool: address('pool').notNull(),
  position: integer('position').notNull(),
  address: address('address').notNull(),
  phases: text('phases', { enum: EXTENSION_PHASES }).array().notNull(),
});

export const priceProviders = view('price_provider', {
  chainId: int8('chain_id').notNull(),
  address: address('address').notNull(),
  kind: text('kind', { enum: ['anchored', 'regular', 'regular_l2'] }).notNull(),
  oracle: address('oracle').notNull(),
  base: address('base').notNull(),
  quote: address('quote').notNull(),
  marginStep: wide('margin_step').notNull(),
  baseFeedId: hex('base_feed_id').notNull(),
  quoteFeedId: hex('quote_feed_id'),
  minMargin: wide('min_margin'),
  maxRefStalenessSecs: wide('max_ref_staleness_secs'),
  maxSpreadBps: integer('max_spread_bps'),
  mutableParams: boolean('mutable_params'),
  maxTimeDeltaSecs: wide('max_time_delta_secs'),
  source: address('source'),
  confidenceParam: wide('confidence_param'),
});

export const swaps = view('swap', {
  chainId: int8('chain_id').notNull(),
  blockNumber: int8('block_number').notNull(),
  blockTimestamp: int8('block_timestamp').notNull(),
  logIndex: integer('log_index').notNull(),
  transactionHash: hex('transaction_hash').notNull(),
  pool: address('pool').notNull(),
  sender: address('sender').notNull(),
  recipient: address('recipient').notNull(),
  zeroForOne: boolean('zero_for_one'),
  amount0Raw: wide('amount0_raw').notNull(),
  amount1Raw: wide('amount1_raw').notNull(),
});

export const indexedBlocks = view('indexed_block', {
  chainId: int8('chain_id').notNull(),
  blockNumber: int8('block_number').notNull(),
  blockTimestamp: int8('block_timestamp').notNull(),
});
