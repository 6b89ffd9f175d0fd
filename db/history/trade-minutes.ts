import type pg from 'pg';
import { inTransaction, type Queryable } from '../transaction.ts';

/** About how many swaps one transaction handles; a minute is never split. */
const SWAPS_PER_RUN = 20_000;
/** How many rows of a dropped index one statement deletes. */
const DELETED_PER_RUN = 20_000;
const MINUTE = 60;
/** Stored intervals; `read_model.trade_bars()` reads the longest one that divides the interval of its bars. */
const INTERVAL_SECS = [MINUTE, 300, 3_600, 86_400];
/** The stored interval from which bars of `secs` seconds are made: the longest one that divides `secs`. */
export const storedSecs = (secs: number): number => INTERVAL_SECS.findLast((each) => secs % each === 0) ?? MINUTE;
const BAR_COLUMNS =
  'open_price, high_price, low_price, close_price, volume0_raw, volume1_raw, volume_usd, lp_fee_usd, swap_count';

/** An index, and a chain that it follows. */
interface FollowedChain {
  readonly schema: string;
  readonly chainId: number;
}

/** Every chain of every index, complete or not: a new index has its candles before readers are switched to it. */
async function followedChains(database: Queryable): Promise<FollowedChain[]> {
  const { rows: schemas } = await database.query<{ schema: string }>(
    `SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relname = '_ponder_checkpoint' AND c.relkind = 'r' AND history.swap_table_of(n.nspname) IS NOT NULL
     ORDER BY n.nspname = read_model.served_schema() DESC, 1`,
  );
  const found: FollowedChain[] = [];
  for (const { schema } of schemas) {
    const { rows } = await database.query<{ chainId: string }>(
      `SELECT chain_id AS "chainId" FROM "${schema}"._ponder_checkpoint ORDER BY 1`,
    );
    found.push(...rows.map(({ chainId }) => ({ schema, chainId: Number(chainId) })));
  }
  return found;
}

/**
 * Writes the missing minutes of trades, for all indexes or for one. Only minutes that ended in final blocks are
 * written. After a kill, the next call continues. Several processes may run at once.
 *
 * @param only the schema of an index; default: all indexes
 * @param swapsPerRun about how many swaps one transaction handles
 * @returns number of transactions
 * @throws an error of Postgres; all earlier chains are written
 */
export async function writeTradeMinutes(
  database: pg.Pool,
  only?: string,
  swapsPerRun: number = SWAPS_PER_RUN,
): Promise<number> {
  let runs = 0;
  while (await removeStale(database)) runs++;
  for (const chain of await followedChains(database)) {
    if (only !== undefined && chain.schema !== only) continue;
    while (await writeBatch(database, chain, swapsPerRun)) runs++;
  }
  return runs;
}

/** Deletes rows of indexes that were dropped, or rebuilt under the same name. @returns whether there may be more */
async function removeStale(database: pg.Pool): Promise<boolean> {
  return inTransaction(database, 'READ COMMITTED', async (client) => {
    const { rows } = await client.query<{ schema: string; chainId: string }>(
      `SELECT index_schema AS schema, chain_id AS "chainId" FROM history.trade_mark
       WHERE history.swap_table_of(index_schema) IS DISTINCT FROM swap_table
       ORDER BY 1, 2 LIMIT 1 FOR UPDATE SKIP LOCKED`,
    );
    const [stale] = rows;
    if (stale === undefined) return false;
    const key = [stale.schema, stale.chainId];
    const { rowCount } = await client.query(
      `DELETE FROM history.trade_bar WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM history.trade_bar WHERE index_schema = $1 AND chain_id = $2 LIMIT ${DELETED_PER_RUN}))`,
      key,
    );
    if (rowCount === 0)
      await client.query('DELETE FROM history.trade_mark WHERE index_schema = $1 AND chain_id = $2', key);
    return true;
  });
}

/** @returns whether minutes were written, so that there may be more */
async function writeBatch(
  database: pg.Pool,
  { schema, chainId }: FollowedChain,
  swapsPerRun: number,
): Promise<boolean> {
  return inTransaction(database, 'READ COMMITTED', async (client) => {
    await client.query(
      `INSERT INTO history.trade_mark SELECT $1::text, $2::int8, history.swap_table_of($1::text), 0, -1
       ON CONFLICT DO NOTHING`,
      [schema, chainId],
    );
    // Locks the mark: when another process is writing these minutes, this one waits for it.
    const { rows } = await client.query<{ untilTs: string; untilBlock: string }>(
      `SELECT until_ts AS "untilTs", until_block AS "untilBlock" FROM history.trade_mark
       WHERE index_schema = $1 AND chain_id = $2 AND swap_table = history.swap_table_of($1) FOR UPDATE`,
      [schema, chainId],
    );
    const [mark] = rows;
    if (mark === undefined) return false;
    const toTs = await endOfBatch(client, { schema, chainId }, mark.untilBlock, swapsPerRun);
    if (toTs <= Number(mark.untilTs)) return false;
    const { rows: written } = await client.query<{ swaps: string }>(insertion(schema), [
      schema,
      chainId,
      mark.untilBlock,
      toTs,
    ]);
    return Number(written[0]?.swaps) > 0;
  });
}

/** End of the next batch: start of a minute before which all is final, with about `swapsPerRun` new swaps at most. */
async function endOfBatch(
  client: Queryable,
  { schema, chainId }: FollowedChain,
  untilBlock: string,
  swapsPerRun: number,
): Promise<number> {
  const later = `SELECT block_timestamp FROM "${schema}".swap WHERE chain_id = $1 AND block_number > $2
    ORDER BY block_number, log_index`;
  const { rows } = await client.query<{ final: string; first: string | null; beyond: string | null }>(
    `SELECT substr(finalized_checkpoint, 1, 10) AS final, (${later} LIMIT 1) AS first,
            (${later} OFFSET $3 LIMIT 1) AS beyond
     FROM "${schema}"._ponder_checkpoint WHERE chain_id = $1`,
    [chainId, untilBlock, swapsPerRun],
  );
  const [found] = rows;
  if (found === undefined) return 0;
  const final = minuteOf(found.final);
  if (found.beyond === null) return final;
  return Math.min(final, Math.max(minuteOf(found.beyond), minuteOf(found.first ?? 0) + MINUTE));
}

const minuteOf = (timestamp: string | number): number => Math.floor(Number(timestamp) / MINUTE) * MINUTE;

/**
 * Adds the swaps after block $3 and before time $4 to the bars of all intervals, and updates the mark. A minute that
 * the served index has with the same trades keeps its dollars, since the prices of that time may be gone. Block numbers
 * grow with time. Thus the key of `swap` bounds at both ends what the query reads.
 */
const insertion = (schema: string) => `
  WITH swaps AS MATERIALIZED (
    SELECT pool, block_timestamp - block_timestamp % ${MINUTE} AS minute_ts, block_number, log_index, amount0_raw,
           amount1_raw, zero_for_one, lp_fee_scaled, history.price_pair(amount0_raw, amount1_raw) AS price
    FROM "${schema}".swap
    WHERE chain_id = $2 AND block_number > $3 AND block_timestamp < $4 AND block_number < coalesce((
      SELECT block_number FROM "${schema}".swap WHERE chain_id = $2 AND block_number > $3 AND block_timestamp >= $4
      ORDER BY block_number LIMIT 1), 9223372036854775807)
  ), minutes AS (
    SELECT pool, minute_ts,
           history.first_price(price ORDER BY block_number, log_index) AS open_price,
           history.highest_price(price ORDER BY block_number, log_index) AS high_price,
           history.lowest_price(price ORDER BY block_number, log_index) AS low_price,
           history.last_price(price ORDER BY block_number, log_index) AS close_price,
           sum(abs(amount0_raw)) AS volume0_raw, sum(abs(amount1_raw)) AS volume1_raw,
           sum(greatest(amount0_raw, 0)) AS in0_raw, sum(greatest(amount1_raw, 0)) AS in1_raw, count(*) AS swap_count,
           count(lp_fee_scaled) AS fee_count, sum(CASE WHEN zero_for_one THEN lp_fee_scaled ELSE 0 END) AS fee0_scaled,
           sum(CASE WHEN zero_for_one THEN 0 ELSE lp_fee_scaled END) AS fee1_scaled
    FROM swaps GROUP BY pool, minute_ts
  ), valued AS MATERIALIZED (
    SELECT m.pool, m.minute_ts, m.open_price, m.high_price, m.low_price, m.close_price, m.volume0_raw, m.volume1_raw,
           CASE WHEN known.pool IS NOT NULL THEN known.volume_usd
             ELSE ${valueUsd('m.in0_raw', 'token0')} + ${valueUsd('m.in1_raw', 'token1')} END AS volume_usd, m.swap_count,
           CASE WHEN known.pool IS NOT NULL THEN known.lp_fee_usd
             WHEN m.fee_count = m.swap_count THEN ${valueUsd('m.fee0_scaled / p.token0_scale_multiplier', 'token0')}
             + ${valueUsd('m.fee1_scaled / p.token1_scale_multiplier', 'token1')} END AS lp_fee_usd
    FROM minutes m
    JOIN "${schema}".pool p ON p.chain_id = $2 AND p.address = m.pool
    LEFT JOIN "${schema}".token token0 ON token0.chain_id = $2 AND token0.address = p.token0
    LEFT JOIN "${schema}".token token1 ON token1.chain_id = $2 AND token1.address = p.token1
    LEFT JOIN history.trade_bar known ON known.index_schema = (SELECT nullif(read_model.served_schema(), $1))
      AND known.chain_id = $2 AND known.pool = m.pool AND known.secs = ${MINUTE} AND known.start_ts = m.minute_ts
      AND (known.volume0_raw, known.volume1_raw, known.swap_count) = (m.volume0_raw, m.volume1_raw, m.swap_count)
  ), written AS (
    INSERT INTO history.trade_bar AS r (index_schema, chain_id, pool, secs, start_ts, ${BAR_COLUMNS})
    SELECT $1, $2, pool, secs, minute_ts - minute_ts % secs,
           history.first_price(open_price ORDER BY minute_ts), history.highest_price(high_price ORDER BY minute_ts),
           history.lowest_price(low_price ORDER BY minute_ts), history.last_price(close_price ORDER BY minute_ts),
           sum(volume0_raw), sum(volume1_raw), CASE WHEN count(volume_usd) = count(*) THEN sum(volume_usd) END,
           CASE WHEN count(lp_fee_usd) = count(*) THEN sum(lp_fee_usd) END, sum(swap_count)
    FROM valued, unnest(ARRAY[${INTERVAL_SECS.join(', ')}]) secs
    GROUP BY pool, secs, minute_ts - minute_ts % secs
    ON CONFLICT (index_schema, chain_id, pool, secs, start_ts) DO UPDATE SET
      open_price = coalesce(r.open_price, excluded.open_price),
      high_price = coalesce(history.keep_high(r.high_price, excluded.high_price), r.high_price, excluded.high_price),
      low_price = coalesce(history.keep_low(r.low_price, excluded.low_price), r.low_price, excluded.low_price),
      close_price = coalesce(excluded.close_price, r.close_price),
      volume0_raw = r.volume0_raw + excluded.volume0_raw, volume1_raw = r.volume1_raw + excluded.volume1_raw,
      volume_usd = r.volume_usd + excluded.volume_usd, lp_fee_usd = r.lp_fee_usd + excluded.lp_fee_usd, swap_count = r.swap_count + excluded.swap_count
  ), marked AS (
    UPDATE history.trade_mark
    SET until_ts = $4, until_block = greatest(until_block, coalesce((SELECT max(block_number) FROM swaps), -1))
    WHERE index_schema = $1 AND chain_id = $2
  )
  SELECT count(*) AS swaps FROM swaps`;

/** SQL for the value of a raw amount in US dollars; null when the price or the decimals of its token are unknown. */
const valueUsd = (amount: string, token: string): string => `
  CASE WHEN ${amount} = 0 THEN 0 ELSE (${amount} / 10::numeric ^ read_model.shown_decimals(${token}.decimals))::float8
    * history.usd_at($2, p.${token}, m.minute_ts) END`;
