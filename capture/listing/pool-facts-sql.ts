import type { PoolRecord } from '../../db/listing/pool-record.ts';
import type { Tier } from '../../protocol/classification.ts';
import { TOTAL_NAMES, type TotalName, totalColumn } from '../../protocol/pool-totals.ts';
import { EXTENSIONS_SQL } from '../pools/extension-rows.ts';
import { PROVIDER_COLUMNS_SQL, type ProviderColumns } from '../pools/provider-rows.ts';

/** Seconds of the two windows that the listing shows. */
export const DAY_SECS = 86_400;
const WEEK_SECS = 7 * DAY_SECS;

/** A column of a row as Postgres sends it: int8 and numeric come as text. */
export type Text = string;

/** A row of {@link POOL_FACTS_SQL}, named as its columns. */
export type PoolFactsColumns = {
  readonly chain_id: Text;
  readonly address: Text;
  readonly factory: Text;
  readonly created_block_number: Text;
  readonly created_timestamp: Text;
  readonly creator: Text;
  readonly admin: Text;
  readonly admin_fee_destination: Text;
  readonly protocol_spread_fee_e6: number;
  readonly admin_spread_fee_e6: number;
  readonly protocol_notional_fee_e8: number;
  readonly admin_notional_fee_e8: number;
  readonly price_provider: Text;
  readonly price_provider_since_block: Text;
  readonly price_provider_timelock_secs: Text;
  readonly pending_price_provider: Text | null;
  readonly pending_price_provider_block: Text | null;
  readonly pending_price_provider_execute_after: Text | null;
  readonly username: Text | null;
  readonly verified: boolean | null;
  readonly pause_level: number;
  readonly cur_bin_idx: number;
  readonly liquidity0_raw: Text;
  readonly liquidity1_raw: Text;
  readonly delisted: boolean;
  readonly tier: Tier | null;
  /** Separated by commas. */
  readonly reason_codes: Text | null;
  /** JSON: `ExtensionColumns[]`. */
  readonly extensions: Text | null;
  readonly price_status: PoolRecord['priceProviderStatus'];
  readonly week_lp_fee0_scaled: Text;
  readonly week_lp_fee1_scaled: Text;
} & Side<'0'> &
  Side<'1'> &
  ProviderColumns &
  DayColumns;

type Side<N extends '0' | '1'> = { readonly [K in `token${N}`]: Text } & {
  readonly [K in `symbol${N}` | `name${N}`]: Text | null;
} & {
  readonly [K in `decimals${N}` | `usd${N}`]: number | null;
};

/** What the day added to the running totals. */
type DayColumns = Readonly<Record<TotalName, Text>>;

const DAY_COLUMNS = TOTAL_NAMES.map((name) => `day.${totalColumn(name)} AS "${name}"`).join(', ');

/**
 * Every pool with all that the listing shows of it: one row per pool, hash joins over tables with a few rows per pool,
 * and three index steps into its running totals.
 * $1 end of the window, Unix seconds; $2 and $3 oldest times of a fiat price and a price status that still count. Every
 * column is a scalar, so that rows compare column by column.
 */
export const POOL_FACTS_SQL = `
  SELECT p.chain_id, p.address, p.factory, p.created_block_number, p.created_timestamp,
         p.token0, t0.symbol AS symbol0, t0.name AS name0, t0.decimals AS decimals0, f0.usd AS usd0,
         p.token1, t1.symbol AS symbol1, t1.name AS name1, t1.decimals AS decimals1, f1.usd AS usd1,
         p.creator, p.admin, c.username, c.verified, p.admin_fee_destination,
         p.protocol_spread_fee_e6, p.admin_spread_fee_e6, p.protocol_notional_fee_e8, p.admin_notional_fee_e8,
         p.price_provider, p.price_provider_since_block, p.price_provider_timelock_secs,
         p.pending_price_provider, p.pending_price_provider_block, p.pending_price_provider_execute_after,
         ${PROVIDER_COLUMNS_SQL},
         s.pause_level, s.cur_bin_idx, s.liquidity0_raw, s.liquidity1_raw,
         x.extensions::text AS extensions, d.pool IS NOT NULL AS delisted, k.tier,
         array_to_string(k.reason_codes, ',') AS reason_codes, coalesce(h.status, 'unknown') AS price_status,
         ${DAY_COLUMNS}, week.lp_fee0_scaled AS week_lp_fee0_scaled, week.lp_fee1_scaled AS week_lp_fee1_scaled
  FROM read_model.pool p
  JOIN read_model.pool_state s ON s.chain_id = p.chain_id AND s.pool = p.address
  JOIN read_model.token t0 ON t0.chain_id = p.chain_id AND t0.address = p.token0
  JOIN read_model.token t1 ON t1.chain_id = p.chain_id AND t1.address = p.token1
  JOIN read_model.pool_window($1::int8 - ${DAY_SECS}, $1::int8) day ON day.chain_id = p.chain_id AND day.pool = p.address
  JOIN read_model.pool_window($1::int8 - ${WEEK_SECS}, $1::int8) week ON week.chain_id = p.chain_id AND week.pool = p.address
  LEFT JOIN read_model.price_provider v ON v.chain_id = p.chain_id AND v.address = p.price_provider
  LEFT JOIN ${EXTENSIONS_SQL} x ON x.chain_id = p.chain_id AND x.pool = p.address
  LEFT JOIN operator.fiat_price f0 ON f0.chain_id = p.chain_id AND f0.token = p.token0 AND f0.priced_at > $2
  LEFT JOIN operator.fiat_price f1 ON f1.chain_id = p.chain_id AND f1.token = p.token1 AND f1.priced_at > $2
  LEFT JOIN operator.price_health h ON h.chain_id = p.chain_id AND h.pool = p.address AND h.captured_at > $3
  LEFT JOIN operator.curator c ON c.chain_id = p.chain_id AND c.address = p.admin
  LEFT JOIN operator.delisted_pool d ON d.chain_id = p.chain_id AND d.pool = p.address
  LEFT JOIN operator.pool_classification k ON k.chain_id = p.chain_id AND k.pool = p.address`;
