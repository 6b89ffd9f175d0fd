import type { Address } from 'viem';
import type { Queryable } from '../../db/transaction.ts';
import { TOTAL_NAMES } from '../../protocol/pool-totals.ts';
import { toExtensions } from '../pools/extension-rows.ts';
import { toProvider } from '../pools/provider-rows.ts';
import type { PoolDay } from './analytics.ts';
import type { PoolFactsRow } from './pool-facts.ts';
import { POOL_FACTS_SQL, type PoolFactsColumns } from './pool-facts-sql.ts';

/** Ages at which what the scheduled work found stops counting, seconds. */
export type MaxAges = { readonly fiatMaxAgeSecs: number; readonly statusMaxAgeSecs: number };

/**
 * Reads every pool of every chain, from one snapshot.
 *
 * @param toTs end of the 24-hour and 7-day windows, Unix seconds
 */
export async function readPoolRows(database: Queryable, toTs: number, ages: MaxAges): Promise<PoolFactsColumns[]> {
  const oldest = (ageSecs: number) => new Date(Date.now() - ageSecs * 1000);
  const values = [toTs, oldest(ages.fiatMaxAgeSecs), oldest(ages.statusMaxAgeSecs)];
  const { rows } = await database.query<PoolFactsColumns>(POOL_FACTS_SQL, values);
  return rows;
}

export function toFacts(row: PoolFactsColumns): PoolFactsRow {
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
    priceStatus: row.price_status,
    pauseLevel: row.pause_level,
    curBinIdx: row.cur_bin_idx,
    extensions: toExtensions(row.extensions === null ? null : JSON.parse(row.extensions)),
    delisted: row.delisted,
    classification:
      row.tier === null ? null : { tier: row.tier, reasonCodes: row.reason_codes ? row.reason_codes.split(',') : [] },
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

function toDay(row: PoolFactsColumns): PoolDay {
  const totals = Object.fromEntries(TOTAL_NAMES.map((name) => [name, BigInt(row[name])])) as PoolDay['totals'];
  return {
    totals,
    weekLpFeesScaled: [BigInt(row.week_lp_fee0_scaled), BigInt(row.week_lp_fee1_scaled)],
    liquidityRaw: [BigInt(row.liquidity0_raw), BigInt(row.liquidity1_raw)],
  };
}
