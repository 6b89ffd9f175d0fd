import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';

/** Prices that bars of samples are made from. */
export type QuoteSeries = 'bid' | 'ask' | 'mid';

/** A bar of samples. Prices are Q64.64 and doubled, since a mid price may end with a half. */
export interface QuoteBarRow {
  readonly startTs: number;
  readonly open: bigint;
  readonly high: bigint;
  readonly low: bigint;
  readonly close: bigint;
  readonly sampleCount: number;
}

export interface QuoteBars {
  /** Newest first. */
  readonly bars: readonly QuoteBarRow[];
  /** All bars that end by this time are final, Unix seconds. */
  readonly finalUntilTs: number;
}

const MINUTE = 60;
const HOUR = 3_600;
/** Price of a sample, by series. */
const PRICE = { bid: 'bid_x64', ask: 'ask_x64', mid: '(bid_x64 + ask_x64) * 0.5' } as const;

/**
 * Reads the newest bars of a pool's quotes before a time.
 *
 * 1. Bars of an hour or more come from stored bars of hours, and from later samples.
 * 2. Shorter bars come from samples alone, which are kept for fewer days.
 * 3. Samples of a pool come in the order of their times, so none is added before the newest one.
 *
 * @param secs a value of `INTERVALS`
 * @param beforeTs Unix seconds, exclusive, a multiple of `secs`
 */
export async function selectQuoteBars(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  series: QuoteSeries,
  secs: number,
  beforeTs: number,
  limit: number,
): Promise<QuoteBars> {
  const hourly = ['open', 'high', 'low', 'close'].map((name) => `${name}_${series}_x64`).join();
  const sampled = `FROM history.quote_minute WHERE chain_id = $1 AND pool = $2 AND status = 'healthy' AND bid_x64 + ask_x64 IS NOT NULL
    AND block_timestamp < $4::int8 AND block_timestamp >= (SELECT CASE WHEN $3::int8 >= ${HOUR} THEN hours_until ELSE 0 END FROM mark)`;
  const { rows } = await database.query<SelectedBar>(
    `WITH mark AS MATERIALIZED (
       SELECT hours_until, least(history.trades_until($1), greatest(hours_until, (
                SELECT max(block_timestamp) FROM history.quote_minute WHERE chain_id = $1 AND pool = $2))) AS final_until
       FROM (SELECT coalesce(max(hour_ts) + ${HOUR}, 0) AS hours_until FROM history.quote_hour WHERE chain_id = $1) written
     ), part AS (
       (SELECT hour_ts AS ts, ${hourly}, sample_count FROM history.quote_hour
        WHERE chain_id = $1 AND pool = $2 AND hour_ts < $4::int8 AND $3::int8 >= ${HOUR} ORDER BY hour_ts DESC LIMIT $5::int8 * $3::int8 / ${HOUR})
       UNION ALL
       SELECT block_timestamp, price, price, price, price, 1
       FROM (SELECT block_timestamp, ${PRICE[series]} AS price ${sampled} AND block_timestamp >= (
               -- The first sample of a minute is no change, so these reach over as many bars.
               SELECT min(block_timestamp) - min(block_timestamp) % $3::int8 FROM (
                 SELECT block_timestamp ${sampled} AND NOT is_change
                 ORDER BY block_timestamp DESC LIMIT $5::int8 * $3::int8 / ${MINUTE}) newest)) samples
     ), bars (start_ts, open, high, low, close, count) AS (
       SELECT ts - ts % $3::int8, (array_agg(open_${series}_x64 ORDER BY ts))[1], max(high_${series}_x64), min(low_${series}_x64),
              (array_agg(close_${series}_x64 ORDER BY ts DESC))[1], sum(sample_count)
       FROM part GROUP BY 1 ORDER BY 1 DESC LIMIT $5::int8
     )
     SELECT final_until, start_ts, trunc(open * 2)::text AS open, trunc(high * 2)::text AS high, trunc(low * 2)::text AS low,
            trunc(close * 2)::text AS close, count
     FROM mark LEFT JOIN bars ON true ORDER BY start_ts DESC`,
    [chainId, address, secs, beforeTs, limit],
  );
  return { bars: rows.flatMap(toBar), finalUntilTs: Number(rows[0]?.final_until ?? 0) };
}

/** A row as Postgres gives it. The one row of a result without bars has null in all columns of a bar. */
interface SelectedBar {
  readonly final_until: string | null;
  readonly start_ts: string | null;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly count: string;
}

const toBar = ({ start_ts, count, ...row }: SelectedBar): QuoteBarRow[] => {
  if (start_ts === null) return [];
  const [open, high, low, close] = [BigInt(row.open), BigInt(row.high), BigInt(row.low), BigInt(row.close)];
  return [{ startTs: Number(start_ts), open, high, low, close, sampleCount: Number(count) }];
};
