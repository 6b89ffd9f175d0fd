import type pg from 'pg';
import type { Address } from 'viem';
import type { HistoryConfig } from '../../config/chains-schema.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';
import type { RecordDepth } from './record-depth.ts';

export interface QuoteHistoryDeps {
  readonly database: pg.Pool;
  readonly chainId: number;
  readonly pools: () => Promise<readonly Pick<KnownPool, 'address' | 'isFunded' | 'valueUsd'>[]>;
  readonly kept: HistoryConfig;
  readonly recordDepth: RecordDepth;
}

const DAY = 86_400;
/** Most samples of a pool per hour that record a change of status, besides one sample per minute. */
const CHANGES_PER_HOUR = 10;
/** Time from the end of an hour until its bar is written: samples have the age of the chain's last block. */
const HOUR_CLOSES_SECS = 300;

/** Joins the last sample of each pool `p`, and keeps pools with a newer price than that. */
const LAST = `
  LEFT JOIN LATERAL (
    SELECT q.block_timestamp, q.status FROM history.quote_minute q
    WHERE q.chain_id = p.chain_id AND q.pool = p.pool ORDER BY q.block_timestamp DESC LIMIT 1
  ) last ON true
  WHERE p.chain_id = $1 AND p.pool = ANY ($2) AND p.block_timestamp >= $3
    AND (last.block_timestamp IS NULL OR p.block_timestamp > last.block_timestamp)`;

/** Selects pools whose minute has no sample yet. */
const DUE_SQL = `
  SELECT p.pool FROM operator.price_health p ${LAST}
    AND p.status = 'healthy' AND p.block_timestamp / 60 IS DISTINCT FROM last.block_timestamp / 60
  ORDER BY array_position($2::text[], p.pool::text)`;

/** Inserts samples by block time: the same blocks give the same samples. A price that was not read again gives none. */
const SAMPLES_SQL = `
  INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change)
  SELECT p.chain_id, p.pool, p.block_timestamp, p.block_number, p.status, p.sell_price_x64, p.buy_price_x64,
         coalesce(p.block_timestamp / 60 = last.block_timestamp / 60, false)
  FROM operator.price_health p ${LAST}
    AND (p.block_timestamp / 60 IS DISTINCT FROM last.block_timestamp / 60
      OR p.status <> last.status AND ${CHANGES_PER_HOUR} > (
        SELECT count(*) FROM history.quote_minute q
        WHERE q.chain_id = p.chain_id AND q.pool = p.pool AND q.is_change
          AND q.block_timestamp >= p.block_timestamp - p.block_timestamp % 3600))
  ON CONFLICT DO NOTHING`;

const bar = (price: string) => `
  (array_agg(${price} ORDER BY block_timestamp))[1], max(${price}), min(${price}),
  (array_agg(${price} ORDER BY block_timestamp DESC))[1]`;

/** Selects the last known depth. It is aggregated as text, since an aggregate of arrays has two dimensions. */
const lastDepth = (depth: string) =>
  `((array_agg(${depth}::text ORDER BY block_timestamp DESC) FILTER (WHERE ${depth} IS NOT NULL))[1])::numeric[]`;

/** Inserts bars of the closed hours that follow the last one written. */
const HOURS_SQL = `
  INSERT INTO history.quote_hour
  SELECT chain_id, pool, block_timestamp - block_timestamp % 3600, ${bar('bid_x64')}, ${bar('ask_x64')},
         ${bar('(bid_x64 + ask_x64) * 0.5')}, count(*), ${lastDepth('bid_depth_raw')}, ${lastDepth('ask_depth_raw')}
  FROM history.quote_minute
  WHERE chain_id = $1 AND status = 'healthy' AND bid_x64 + ask_x64 IS NOT NULL
    AND block_timestamp >= greatest($2, coalesce((SELECT max(hour_ts) + 3600 FROM history.quote_hour WHERE chain_id = $1), 0))
    AND block_timestamp < $3
  GROUP BY 1, 2, 3
  ON CONFLICT DO NOTHING`;

/**
 * Samples what funded pools quote. It reads the most valuable ones now, with depth; for the others it takes the prices
 * that capture read last. It also writes the bars of hours that ended, and drops old days.
 *
 * @param nowSecs Unix seconds
 * @throws an error of Postgres; an RpcFailure when depth was not read, after all else is written
 */
export async function recordQuotes(
  { database, chainId, pools, kept, recordDepth }: QuoteHistoryDeps,
  nowSecs = Math.floor(Date.now() / 1_000),
): Promise<void> {
  const [minutesFrom, hoursFrom] = [nowSecs - kept.quoteMinuteDays * DAY, nowSecs - kept.quoteHourDays * DAY];
  const byValue = (await pools()).filter(({ isFunded }) => isFunded).sort((a, b) => b.valueUsd - a.valueUsd);
  const funded = byValue.map(({ address }) => address);
  await database.query(
    `SELECT history.keep_partitions('quote_minute', day, $3) FROM (
       SELECT DISTINCT block_timestamp - block_timestamp % ${DAY} AS day FROM operator.price_health
       WHERE chain_id = $1 AND pool = ANY ($2) AND block_timestamp >= $3) days`,
    [chainId, funded, minutesFrom],
  );
  const { rows: due } = await database.query<{ pool: Address }>(DUE_SQL, [
    chainId,
    funded.slice(0, kept.depthPools),
    minutesFrom,
  ]);
  const failure = await recordDepth(due.map(({ pool }) => pool)).then(
    () => null,
    (error: unknown) => error,
  );
  await database.query(SAMPLES_SQL, [chainId, funded, minutesFrom]);
  const closed = nowSecs - HOUR_CLOSES_SECS;
  await database.query(
    `SELECT history.keep_partitions('quote_hour', day, $2)
     FROM generate_series($1::int8, $3::int8, ${DAY}) day`,
    [Math.floor(minutesFrom / DAY) * DAY, hoursFrom, closed],
  );
  await database.query(HOURS_SQL, [chainId, Math.max(minutesFrom, hoursFrom), closed - (closed % 3_600)]);
  if (failure) throw failure;
}
