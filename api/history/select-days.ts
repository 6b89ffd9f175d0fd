import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { PoolDay } from './days-declaration.ts';

const daysBefore = loadStatement<PoolDay>('./select-days.sql', import.meta.url, 'days');

/** Reads the newest days of a pool that start before a time, newest first. */
export const selectDays = (
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  beforeTs: number,
  limit: number,
): Promise<PoolDay[]> => daysBefore(database, [chainId, address, beforeTs, limit]);
