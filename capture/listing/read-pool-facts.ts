import type { Address, Hex } from 'viem';
import type { Queryable } from '../../db/transaction.ts';
import type { ExtensionPhase } from '../../protocol/pool-events.ts';
import type { PoolDay, TokenFlow } from './analytics.ts';
import type { ExtensionRow, PoolFactsRow, ProviderRow } from './pool-facts.ts';
import { type ExtensionColumns, type FlowColumns, POOL_FACTS_SQL, type PoolFactsColumns } from './pool-facts-sql.ts';

const ZERO_WORD = `0x${'0'.repeat(64)}`;

/**
 * Reads every pool of every chain, from one snapshot.
 *
 * @param toTs end of the 24-hour and 7-day windows, Unix seconds
 * @param oldestPrice a fiat price older than this does not count
 */
export async function readPoolFacts(database: Queryable, toTs: number, oldestPrice: Date): Promise<PoolFactsRow[]> {
  const { rows } = await database.query<PoolFactsColumns>(POOL_FACTS_SQL, [toTs, oldestPrice]);
  return rows.map(toFacts);
}

function toFacts(row: PoolFactsColumns): PoolFactsRow {
  return {
    chainId: Number(row.chain_id),
    address: row.address as Address,
    factory: row.factory as Address,
    createdBlockNumber: Number(row.created_block_number),
    createdTimestamp: Number(row.created_timestamp),
    tokens: [
      { address: row.token0 as Address, symbol: row.symbol0, name: row.name0, decimals: row.decimals0, usd: row.usd0 },
      { address: row.token1 as Address, symbol: row.symbol1, name: row.name1, decimals: row.decimals1, usd: row.usd1 },
    ],
    creator: row.creator as Address,
    admin: row.admin as Address,
    adminUsername: row.username,
    adminVerified: row.verified ?? false,
    adminFeeDestination: row.admin_fee_destination as Address,
    protocolSpreadFeeE6: row.protocol_spread_fee_e6,
    adminSpreadFeeE6: row.admin_spread_fee_e6,
    protocolNotionalFeeE8: row.protocol_notional_fee_e8,
    adminNotionalFeeE8: row.admin_notional_fee_e8,
    priceProvider: row.price_provider as Address,
    priceProviderSinceBlock: Number(row.price_provider_since_block),
    priceProviderTimelockSecs: BigInt(row.price_provider_timelock_secs),
    pendingProvider: pendingProvider(row),
    provider: toProvider(row),
    pauseLevel: row.pause_level,
    curBinIdx: row.cur_bin_idx,
    extensions: (row.extensions ?? []).map(toExtension),
    delisted: row.delisted,
    classification: row.tier === null ? null : { tier: row.tier, reasonCodes: row.reason_codes ?? [] },
    day: toDay(row),
  };
}

function pendingProvider(row: PoolFactsColumns): PoolFactsRow['pendingProvider'] {
  if (row.pending_price_provider === null) return null;
  return {
    address: row.pending_price_provider as Address,
    block: Number(row.pending_price_provider_block),
    executeAfter: BigInt(row.pending_price_provider_execute_after ?? 0),
  };
}

function toProvider(row: PoolFactsColumns): ProviderRow | null {
  if (row.provider_kind === null) return null;
  const quoteFeedId = row.quote_feed_id === ZERO_WORD ? null : row.quote_feed_id;
  return {
    kind: row.provider_kind as ProviderRow['kind'],
    oracle: row.oracle as Address,
    base: row.base as Address,
    quote: row.quote as Address,
    marginStep: BigInt(row.margin_step),
    baseFeedId: row.base_feed_id as Hex,
    quoteFeedId: quoteFeedId as Hex | null,
    minMargin: bigintOrNull(row.min_margin),
    maxRefStalenessSecs: bigintOrNull(row.max_ref_staleness_secs),
    maxSpreadBps: row.max_spread_bps,
    mutableParams: row.mutable_params,
    maxTimeDeltaSecs: bigintOrNull(row.max_time_delta_secs),
    source: row.provider_source as Address | null,
    confidenceParam: bigintOrNull(row.confidence_param),
  };
}

function toExtension(columns: ExtensionColumns): ExtensionRow {
  return {
    address: columns.address as Address,
    phases: columns.phases as readonly ExtensionPhase[],
    drawdownE6: bigintOrNull(columns.drawdown_e6),
    decayPerSecondE8: bigintOrNull(columns.decay_per_second_e8),
    timelockSecs: bigintOrNull(columns.timelock_secs),
    maxChangePerBlockE18: bigintOrNull(columns.max_change_per_block_e18),
    allowAll: columns.allow_all,
  };
}

function toDay(row: PoolFactsColumns): PoolDay {
  return {
    swapTxCount: Number(row.swap_tx_count),
    transferCount: Number(row.transfer_count),
    liquidityAddCount: Number(row.liquidity_add_count),
    liquidityRemoveCount: Number(row.liquidity_remove_count),
    flows: [toFlow(row, '0'), toFlow(row, '1')],
    weekLpFeesScaled: [BigInt(row.week_lp_fee0_scaled), BigInt(row.week_lp_fee1_scaled)],
    liquidityRaw: [BigInt(row.liquidity0_raw), BigInt(row.liquidity1_raw)],
  };
}

function toFlow<N extends '0' | '1'>(row: FlowColumns<'0'> & FlowColumns<'1'>, side: N): TokenFlow {
  return {
    swapInRaw: BigInt(row[`swap_in${side}_raw`]),
    swapOutRaw: BigInt(row[`swap_out${side}_raw`]),
    liquidityInRaw: BigInt(row[`liquidity_in${side}_raw`]),
    liquidityOutRaw: BigInt(row[`liquidity_out${side}_raw`]),
    feesCollectedRaw: BigInt(row[`fees_collected${side}_raw`]),
    lpFeeScaled: BigInt(row[`lp_fee${side}_scaled`]),
    protocolFeeScaled: BigInt(row[`protocol_fee${side}_scaled`]),
    notionalFeeScaled: BigInt(row[`notional_fee${side}_scaled`]),
  };
}

function bigintOrNull(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
