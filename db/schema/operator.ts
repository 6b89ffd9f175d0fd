import { boolean, doublePrecision, integer, jsonb, pgSchema, smallint, text } from 'drizzle-orm/pg-core';
import { LISTED_TIERS, TIERS } from '../../protocol/classification.ts';
import { EXTENSION_ROLES, PROVIDER_KINDS } from '../../protocol/layouts/contract-roles.ts';
import { LISTED_STATUSES } from '../../protocol/quote-status.ts';
import { bytes, checkedAddress, hex, instant, int8, wide } from './columns.ts';

/*
 * Tables of the schema `operator`, as migrations make them. Keys and indexes are defined only in the migrations. The
 * audit trail is in `pamm-audit.ts`.
 */
const operator = pgSchema('operator');

export const curators = operator.table('curator', {
  chainId: int8('chain_id').notNull(),
  address: checkedAddress('address').notNull(),
  username: text('username'),
  verified: boolean('verified').notNull().default(false),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

export const delistedPools = operator.table('delisted_pool', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  reason: text('reason'),
  delistedAt: instant('delisted_at').notNull().defaultNow(),
});

export const apiKeys = operator.table('api_key', {
  keyHash: bytes('key_hash').notNull(),
  keyId: text('key_id').notNull(),
  label: text('label').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  revokedAt: instant('revoked_at'),
  replaces: text('replaces'),
  publishesQuotes: boolean('publishes_quotes').notNull().default(false),
});

export const priceHealth = operator.table('price_health', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  status: text('status', { enum: LISTED_STATUSES }).notNull(),
  sellPriceX64: wide('sell_price_x64', { digits: 39 }),
  buyPriceX64: wide('buy_price_x64', { digits: 39 }),
  blockNumber: int8('block_number').notNull(),
  blockTimestamp: int8('block_timestamp').notNull(),
  capturedAt: instant('captured_at').notNull(),
  balance0Raw: wide('balance0_raw', { digits: 78 }),
  balance1Raw: wide('balance1_raw', { digits: 78 }),
  isFunded: boolean('is_funded').notNull().default(false),
  basis: text('basis', { enum: ['committed', 'live'] })
    .notNull()
    .default('committed'),
  tradesLive: boolean('trades_live'),
  gasToken0In: integer('gas_token0_in'),
  gasToken1In: integer('gas_token1_in'),
  gasAt: instant('gas_at'),
});

/** State read from the storage of pools whose events do not report it. `refusal` says why a read does not count. */
export const poolStorages = operator.table('pool_storage', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  blockNumber: int8('block_number').notNull(),
  blockHash: hex('block_hash').notNull(),
  blockTimestamp: int8('block_timestamp').notNull(),
  curBinIdx: integer('cur_bin_idx'),
  curPosInBin: wide('cur_pos_in_bin', { digits: 32 }),
  curBinDistFromProvidedPriceE6: integer('cur_bin_dist_from_provided_price_e6'),
  total0Scaled: wide('total0_scaled', { digits: 39 }),
  total1Scaled: wide('total1_scaled', { digits: 39 }),
  notionalFee0Scaled: wide('notional_fee0_scaled', { digits: 39 }),
  notionalFee1Scaled: wide('notional_fee1_scaled', { digits: 39 }),
  balance0Raw: wide('balance0_raw', { digits: 78 }),
  balance1Raw: wide('balance1_raw', { digits: 78 }),
  refusal: text('refusal'),
  capturedAt: instant('captured_at').notNull(),
});

/** Facts about the pools of a factory that are not public; `decided` is null while a fact is undecided. */
export const layoutCalibrations = operator.table('layout_calibration', {
  chainId: int8('chain_id').notNull(),
  factory: checkedAddress('factory').notNull(),
  what: text('what').notNull(),
  decided: text('decided'),
  evidence: jsonb('evidence').notNull(),
  decidedBy: text('decided_by', { enum: ['job', 'operator'] }).notNull(),
  decidedAt: instant('decided_at').notNull(),
  tries: integer('tries').notNull(),
});

/** Contracts around a pool factory that the indexer found when it began the index in `schema`. */
export const foundContracts = operator.table('found_contract', {
  schema: text('schema').notNull(),
  chainId: int8('chain_id').notNull(),
  factory: checkedAddress('factory').notNull(),
  role: text('role', { enum: [...EXTENSION_ROLES, ...PROVIDER_KINDS] }).notNull(),
  address: checkedAddress('address').notNull(),
  maker: checkedAddress('maker').notNull(),
  foundAt: instant('found_at').notNull().defaultNow(),
});

export const fiatPrices = operator.table('fiat_price', {
  chainId: int8('chain_id').notNull(),
  token: checkedAddress('token').notNull(),
  usd: doublePrecision('usd').notNull(),
  source: text('source', { enum: ['static', 'defillama', 'pool'] }).notNull(),
  pricedAt: instant('priced_at').notNull(),
});

export const poolClassifications = operator.table('pool_classification', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  tier: text('tier', { enum: TIERS }).notNull(),
  reasonCodes: text('reason_codes').array().notNull(),
  classifiedAt: instant('classified_at').notNull().defaultNow(),
});

/**
 * The figures sort and filter: `sortFigures` of capture makes them.
 * Pages and views show the others from `shownTvlFiat` on.
 */
export const poolListings = operator.table('pool_listing', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  contractVersion: text('contract_version').notNull(),
  createdBlockNumber: int8('created_block_number').notNull(),
  tier: text('tier', { enum: LISTED_TIERS }).notNull(),
  tierRank: smallint('tier_rank').notNull(),
  tvlFiat: doublePrecision('tvl_fiat'),
  volumeFiat: doublePrecision('volume_fiat'),
  aprBps: doublePrecision('apr_bps'),
  aprBps7d: doublePrecision('apr_bps_7d'),
  lockedPricing: boolean('locked_pricing').notNull(),
  depositAllowlist: boolean('deposit_allowlist').notNull(),
  factory: checkedAddress('factory').notNull(),
  shownTvlFiat: doublePrecision('shown_tvl_fiat'),
  shownVolumeFiat: doublePrecision('shown_volume_fiat'),
  lpFeesFiat: doublePrecision('lp_fees_fiat'),
  lpFeesFiat7d: doublePrecision('lp_fees_fiat_7d'),
});

/** What the comparison of the index with the chain found, by pool and factory. */
export const indexAudits = operator.table('index_audit', {
  chainId: int8('chain_id').notNull(),
  address: checkedAddress('address').notNull(),
  factory: checkedAddress('factory').notNull(),
  indexSchema: text('index_schema').notNull(),
  triedAt: instant('tried_at').notNull(),
  auditedBlock: int8('audited_block'),
  agreedBlock: int8('agreed_block'),
  suspectedAtBlock: int8('suspected_at_block'),
  differsSince: instant('differs_since'),
  lastDifferenceAt: instant('last_difference_at'),
  differences: text('differences').array().notNull(),
  shown: text('shown').array().notNull(),
  isUnread: boolean('is_unread').notNull().default(false),
});

/** How the price of a funded pool moved in 24 hours, and its depth within 1 %. */
export const poolTrends = operator.table('pool_trend', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  changeE6: doublePrecision('change_e6'),
  depthFiat: doublePrecision('depth_fiat'),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

/** Whether the quotes of a funded pool held in 24 hours, at one block, of pools with 100 samples. */
export const poolPersistence = operator.table('pool_persistence', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  medianBps: doublePrecision('median_bps').notNull(),
  p95Bps: doublePrecision('p95_bps').notNull(),
  withdrawnShare: doublePrecision('withdrawn_share').notNull(),
  goneShare: doublePrecision('gone_share'),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

/** Inputs from which each pool of the index, listed or not, was last computed. A refresh recomputes changed pools. */
export const listingSources = operator.table('listing_source', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  source: text('source'),
  generation: int8('generation').notNull(),
  amount0: doublePrecision('amount0'),
  amount1: doublePrecision('amount1'),
  price0: doublePrecision('price0'),
  price1: doublePrecision('price1'),
  nextChangeAt: int8('next_change_at'),
  priceAge0: smallint('price_age0'),
  priceAge1: smallint('price_age1'),
});

export const listedPools = operator.table('listed_pool', {
  chainId: int8('chain_id').notNull(),
  pool: checkedAddress('pool').notNull(),
  record: text('record').notNull(),
  analytics: text('analytics').notNull(),
  /** A search finds a pool by the beginning of a term. */
  searchTerms: text('search_terms').array().notNull(),
  token0: checkedAddress('token0').notNull(),
  token1: checkedAddress('token1').notNull(),
});

/** USD per whole token, as of the last refresh. */
export const listingPrices = operator.table('listing_price', {
  chainId: int8('chain_id').notNull(),
  token: checkedAddress('token').notNull(),
  usd: doublePrecision('usd').notNull(),
});

export const listingWindows = operator.table('listing_window', {
  chainId: int8('chain_id').notNull(),
  generation: int8('generation').notNull(),
  fromTs: int8('from_ts').notNull(),
  toTs: int8('to_ts').notNull(),
  fromBlock: int8('from_block').notNull(),
  toBlock: int8('to_block').notNull(),
  generatedAtTs: int8('generated_at_ts').notNull(),
  fiatPriceTs: int8('fiat_price_ts'),
  isFiatLost: boolean('is_fiat_lost').notNull().default(false),
});

export const firstSyncs = operator.table('first_sync', {
  chainId: int8('chain_id').notNull(),
  blockNumber: int8('block_number'),
  logs: int8('logs').notNull(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

/** Nodes that left logs out, or invented some. */
export const logFaults = operator.table('log_fault', {
  chainId: int8('chain_id').notNull(),
  node: text('node').notNull(),
  leftOut: int8('left_out').notNull(),
  invented: int8('invented').notNull(),
  lastAt: instant('last_at').notNull().defaultNow(),
});

export const backfills = operator.table('backfill', {
  schema: text('schema').notNull(),
  refetchedChains: int8('refetched_chains').array().notNull(),
  begunAt: instant('begun_at').notNull().defaultNow(),
  servedAt: instant('served_at'),
  replaced: text('replaced'),
  attempt: integer('attempt').notNull().default(0),
  attempts: integer('attempts').array().notNull().default([]),
});

export const migrations = operator.table('migration', {
  name: text('name').notNull(),
  runAt: instant('run_at').notNull().defaultNow(),
  checksum: text('checksum').notNull(),
});
