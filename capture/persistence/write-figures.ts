import type { HistoryConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';

const DAY = 86_400;

const sampledPools = loadStatement<{ readonly pool: string }>('./sampled-pools.sql', import.meta.url);
const writeDaysOf = loadStatement('./write-days.sql', import.meta.url);
const write24hOf = loadStatement('./write-24h.sql', import.meta.url);
const delete24h = loadStatement('./delete-24h.sql', import.meta.url);

/**
 * Writes what samples of a chain say of the days that are not over, pool by pool, and drops old days.
 *
 * @param nowSecs Unix seconds; runs are an hour apart, or the end of a day is missed
 * @throws an error of Postgres: the next run writes the rest
 */
export async function writeDays(
  database: Queryable,
  chainId: number,
  kept: Pick<HistoryConfig, 'quoteHourDays'>,
  nowSecs: number,
): Promise<void> {
  for (const day of [nowSecs - DAY, nowSecs]) {
    const keepFrom = nowSecs - kept.quoteHourDays * DAY;
    await database.query('SELECT history.keep_partitions($1, $2, $3)', ['persistence_day', day, keepFrom]);
  }
  for (const { pool } of await sampledPools(database, [chainId, nowSecs])) {
    await writeDaysOf(database, [chainId, nowSecs, pool]);
  }
}

/** Writes what samples of a chain say of 24 hours, pool by pool. @throws as {@link writeDays} */
export async function write24h(database: Queryable, chainId: number, nowSecs: number): Promise<void> {
  const { rows } = await database.query<{ startedAt: Date }>('SELECT now() AS "startedAt"');
  for (const { pool } of await sampledPools(database, [chainId, nowSecs])) {
    await write24hOf(database, [chainId, nowSecs, pool]);
  }
  await delete24h(database, [chainId, rows[0]?.startedAt]);
}
