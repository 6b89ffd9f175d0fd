import type pg from 'pg';
import { MARKET } from '../listing/market.ts';
import { insertSwaps } from '../listing/seed.ts';

const [CHAIN] = MARKET.chainIds;
const NUMBER = MARKET.poolsPerChain + 1;
const DAY = 86_400;
const HOUR = 3_600;
const MINUTE = 60;
/** Days with trades: more than one request may list. */
const DAYS = 405;
/** Then the swaps of the other pools begin. */
const QUIET_DAYS = 8;
/** Of samples that are taken once a minute. */
const SAMPLED_DAYS = 22;
const DEPTH = `array_fill(1000000000000::numeric, ARRAY[4])`;

/** The one pool that is so old that the longest legal requests have rows to read. */
export const OLD_POOL = `0x${(1_000_000 + NUMBER).toString(16).padStart(40, '0')}` as const;

/** A pool that traded every hour, before the other pools began to. @param now Unix seconds, a whole day */
export async function seedOldPool(database: pg.Pool, now: number): Promise<void> {
  const { schema } = MARKET;
  const from = now - (DAYS + QUIET_DAYS) * DAY;
  const changes = (key: string) => `jsonb_build_object('${key}', '${OLD_POOL}', 'pool_idx', ${NUMBER})`;
  for (const [table, key] of [
    ['pool', 'address'],
    ['pool_state', 'pool'],
  ] as const) {
    await database.query(
      `INSERT INTO ${schema}.${table} SELECT copy.* FROM ${schema}.${table} made,
       LATERAL jsonb_populate_record(made, ${changes(key)}) copy
       WHERE made.chain_id = ${CHAIN} ORDER BY made.${key} LIMIT 1`,
    );
  }
  const second = `${from} + k * ${HOUR}`;
  const swaps = [1, (DAYS * DAY) / HOUR - 1] as const;
  await insertSwaps(database, { chainId: CHAIN, pools: [NUMBER, NUMBER], swaps, firstBlock: 900_000, second });
}

/**
 * What it quoted every hour, and in its last weeks every minute; and what its tokens were worth.
 *
 * @param now Unix seconds, a whole day
 */
export async function seedOldQuotes(database: pg.Pool, now: number): Promise<void> {
  const { schema } = MARKET;
  const from = now - (DAYS + QUIET_DAYS) * DAY;
  await database.query(`
    SELECT history.keep_partitions('fiat_price_hour', ts, 0) FROM generate_series(${from}, ${now}, ${DAY}) ts;
    SELECT history.keep_partitions('quote_hour', ts, 0) FROM generate_series(${from}, ${now}, ${DAY}) ts;
    SELECT history.keep_partitions('quote_minute', ts, 0) FROM generate_series(${now - SAMPLED_DAYS * DAY}, ${now}, ${DAY}) ts;
    INSERT INTO history.fiat_price_hour (chain_id, token, ts, usd, source)
    SELECT DISTINCT ${CHAIN}, token, ts, 1.5, 'static' FROM ${schema}.pool, unnest(ARRAY[token0, token1]) token,
      generate_series(${from}, ${now} - 1, ${HOUR}) ts WHERE chain_id = ${CHAIN} AND address = '${OLD_POOL}';
    INSERT INTO history.quote_hour
    SELECT ${CHAIN}, '${OLD_POOL}', ts, p, p, p, p, p, p, p, p, p, p, p, p, 60, ${DEPTH}, ${DEPTH}
    FROM generate_series(${from}, ${now} - 1, ${HOUR}) ts, LATERAL (SELECT 18446744073709551616::numeric + ts AS p) price;
    INSERT INTO history.quote_minute
    SELECT ${CHAIN}, '${OLD_POOL}', ts, 1000000 + ts / 60, 'healthy', 18446744073709551616 + ts, 18446744073709551617 + ts, false, ${DEPTH}, ${DEPTH}
    FROM generate_series(${now - SAMPLED_DAYS * DAY}, ${now} - 1, ${MINUTE}) ts`);
}
