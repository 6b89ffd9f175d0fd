import type pg from 'pg';
import { type RefreshDeps, refreshListing } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { migrate } from '../../db/migrate.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openPool } from '../stores.ts';
import { CHAINS_FILE, MARKET } from './market.ts';
import { classifyMarket, seedPools } from './seed.ts';

/** Fills an empty database with the pools of the market. @param now Unix seconds up to which it is indexed */
export async function seedMarket(url: string, now: number, poolsPerChain?: number): Promise<pg.Pool> {
  await migrate(url);
  const database = openPool(url);
  await createOnchainTables(database, MARKET.schema);
  await indexMarket(database, { number: 2_000_000, timestamp: now });
  await seedPools(database, now, poolsPerChain);
  return database;
}

/** Says that all chains are indexed up to a block. */
export async function indexMarket(
  database: pg.Pool,
  block: Omit<Parameters<typeof setIndexedBlock>[1], 'chainId'>,
): Promise<void> {
  for (const chainId of MARKET.chainIds) await setIndexedBlock(database, { chainId, ...block }, MARKET.schema);
}

/** Refreshes the listing. @returns pools that were computed */
export function refreshMarket(database: pg.Pool): ReturnType<typeof refreshListing> {
  const deps: RefreshDeps = {
    database,
    registry: createRegistry(CHAINS_FILE),
    findBlockAt: async (_, indexed) => indexed.number - 86_400,
    fiatMaxAgeSecs: 86_400,
    version: 'bench',
    classify: classifyMarket,
    wallClock: () => Date.now(),
  };
  return refreshListing(deps);
}
