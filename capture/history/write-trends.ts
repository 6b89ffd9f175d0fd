import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';

const statement = loadStatement('./write-trends.sql', import.meta.url);

/** Stores how the prices of a chain's funded pools moved in 24 hours, and their depth, by which the listing sorts. */
export const writeTrends = async (database: Queryable, chainId: number): Promise<void> => {
  await statement(database, [chainId]);
};
