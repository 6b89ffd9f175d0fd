import type pg from 'pg';
import type { Address } from 'viem';
import type { HistoryConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
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
/** Time from the end of an hour until its bar is written: samples have the age of the chain's last block. */
const HOUR_CLOSES_SECS = 300;

const keepMinutes = loadStatement('./keep-quote-minutes.sql', import.meta.url);
const poolsToSample = loadStatement<{ readonly pool: Address }>('./pools-to-sample.sql', import.meta.url);
const insertSamples = loadStatement('./insert-quote-samples.sql', import.meta.url);
const countSamples = loadStatement('./count-samples.sql', import.meta.url);
const keepHours = loadStatement('./keep-quote-hours.sql', import.meta.url);
const insertHours = loadStatement('./insert-quote-hours.sql', import.meta.url);

/**
 * Samples what funded pools quote. It reads the most valuable ones now, with depth; for the others it takes the prices
 * that capture read last. It also counts how often pools trade, writes the bars of hours that ended,
 * and drops old days.
 *
 * @param nowSecs Unix seconds
 * @throws an error of Postgres; an RpcFailure when depth was not read, after all else is written
 */
export async function recordQuotes(
  { database, chainId, pools, kept, recordDepth }: QuoteHistoryDeps,
  nowSecs: number,
): Promise<void> {
  const [minutesFrom, hoursFrom] = [nowSecs - kept.quoteMinuteDays * DAY, nowSecs - kept.quoteHourDays * DAY];
  const byValue = (await pools()).filter(({ isFunded }) => isFunded).sort((a, b) => b.valueUsd - a.valueUsd);
  const funded = byValue.map(({ address }) => address);
  await keepMinutes(database, [chainId, funded, minutesFrom, hoursFrom]);
  const due = await poolsToSample(database, [chainId, funded.slice(0, kept.persistencePools), minutesFrom]);
  const failure = await recordDepth(due.map(({ pool }) => pool)).then(
    () => null,
    (error: unknown) => error,
  );
  await insertSamples(database, [chainId, funded, minutesFrom]);
  await countSamples(database, [chainId, funded, minutesFrom]);
  const closed = nowSecs - HOUR_CLOSES_SECS;
  await keepHours(database, [Math.floor(minutesFrom / DAY) * DAY, hoursFrom, closed]);
  await insertHours(database, [chainId, Math.max(minutesFrom, hoursFrom), closed - (closed % 3_600), funded]);
  if (failure) throw failure;
}
