import type pg from 'pg';
import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';

/** A log that one of two indexes lacks: `missing` in the one that served, or `extra` there. */
export interface RepairedLog {
  readonly change: 'missing' | 'extra';
  readonly chainId: number;
  readonly pool: Address;
  readonly blockNumber: number;
  readonly logIndex: number;
}

/** Chains to repair, by id, with the first block whose logs are fetched again. */
export type Repairs = ReadonlyMap<number, number>;

const chainsToRepair = loadStatement<{ readonly chainId: number; readonly fromBlock: number }>(
  './chains-to-repair.sql',
  import.meta.url,
);
const repairedLogs = loadStatement<RepairedLog>('./repaired-logs.sql', import.meta.url);

/**
 * Reads which chains have pools whose index is not what the chain holds. Their logs are fetched again since the last
 * block at which all of them agreed, or since the first one. Empty where nothing differs,
 * and for ten minutes after a backfill began.
 *
 * @param onlyLasting leaves out what differed in two comparisons alone,
 * and chains that were repaired thrice within a day
 */
export async function readRepairs(database: pg.Pool, { onlyLasting = false } = {}): Promise<Repairs> {
  const rows = await chainsToRepair(database, [onlyLasting]);
  return new Map(rows.map(({ chainId, fromBlock }) => [chainId, fromBlock]));
}

/**
 * Compares events of pools in two indexes, up to the last final block of the older one:
 * the first 100 that are not in both.
 */
export async function readRepairedLogs(
  database: pg.Pool,
  { before, after }: { readonly before: string; readonly after: string },
  repairs: Repairs,
): Promise<readonly RepairedLog[]> {
  const values = [[...repairs.keys()], [...repairs.values()]];
  return repairedLogs(database, values, { before, after });
}
