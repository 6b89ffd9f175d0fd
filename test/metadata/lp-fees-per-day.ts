import { readFileSync } from 'node:fs';
import type pg from 'pg';
import type { Address, PublicClient } from 'viem';
import { countLogs } from './raw-log-analytics.ts';

/** Runs the example of docs/use/sql.md for the LP fees of each day: whole units of token0, by `chain:pool:day`. */
export async function queryLpFeesPerDay(database: pg.Pool): Promise<Map<string, number>> {
  const document = readFileSync(new URL('../../docs/use/sql.md', import.meta.url), 'utf8');
  const example = [...document.matchAll(/```sql\n([\s\S]*?)```/g)].find((match) => match[1]?.includes('AS lp_fee0'));
  if (!example?.[1]) throw new Error('docs/use/sql.md has no such example');
  const { rows } = await database.query<{ chain_id: string; pool: string; day: string; lp_fee0: string }>(
    `SELECT chain_id, pool, day::text, lp_fee0 FROM (${example[1].replace(/;\s*$/, '')}) example`,
  );
  return new Map(rows.map(({ chain_id, pool, day, lp_fee0 }) => [`${chain_id}:${pool}:${day}`, Number(lp_fee0)]));
}

/**
 * The same from raw logs of one pool, for each day that has any: scaled units, by day.
 *
 * @param blockTimes timestamps of the chain's blocks, by number
 */
export async function countLpFeesPerDay(
  client: PublicClient,
  pool: Address,
  blockTimes: readonly number[],
): Promise<Map<string, bigint>> {
  const logs = await client.getLogs({ address: pool, fromBlock: 0n, toBlock: 'latest' });
  const dayOfLog = ({ blockNumber }: (typeof logs)[number]) => dayOf(blockTimes[Number(blockNumber)] ?? Number.NaN);
  const fees = [...new Set(logs.map(dayOfLog))].map(async (day) => {
    const logsOfDay = logs.filter((log) => dayOfLog(log) === day);
    const count = await countLogs(client, pool, { multipliers: [1n, 1n] }, logsOfDay);
    return [day, count.lpFeeScaled[0]] as const;
  });
  return new Map(await Promise.all(fees));
}

/** In UTC, as `2026-01-31`. */
function dayOf(timestamp: number): string {
  return new Date(timestamp * 1_000).toISOString().slice(0, 10);
}
