import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { readDecisions, readPoolsAt } from './catalog-rows.ts';
import type { ServedPool } from './pool-directory.ts';
import { PoolMaker } from './pool-maker.ts';

/** Reads the pools at these addresses that are served, in the same order. @throws an error of Postgres */
export async function readServedPools(
  database: pg.Pool,
  chain: ChainConfig,
  addresses: readonly Address[],
): Promise<readonly ServedPool[]> {
  if (addresses.length === 0) return [];
  const decisions = await readDecisions(database);
  const maker = new PoolMaker(chain);
  const rows = new Map((await readPoolsAt(database, chain.chainId, addresses)).map((row) => [row.address, row]));
  return addresses.flatMap((address) => {
    const row = rows.get(address);
    return (row && maker.make(row, decisions)) ?? [];
  });
}
