import { max, notInArray, sql } from 'drizzle-orm';
import { queriesOn } from '../../db/query-builder.ts';
import { listedPools, listingWindows, poolListings } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deleteOtherPools, upsertRows } from '../../db/write-rows.ts';
import type { ListedPool } from './record.ts';

/** Window of one chain. */
export type ChainWindow = Omit<typeof listingWindows.$inferInsert, 'generation' | 'generatedAtTs'>;

/** Rows per statement: large enough to save round trips, small enough to keep statements short. */
const BATCH = 1_000;

/** Inserts pools and updates those whose values differ; a row that did not change is not rewritten. */
export async function upsertPools(database: Queryable, pools: readonly ListedPool[]): Promise<void> {
  for (let start = 0; start < pools.length; start += BATCH) {
    const batch = pools.slice(start, start + BATCH);
    await upsertRows(database, poolListings, batch, { key: ['chainId', 'pool'] });
    await upsertRows(database, listedPools, batch, { key: ['chainId', 'pool'] });
  }
}

/** Takes out what is listed no more: a pool that a reorganisation undid, or whose deployment was disabled. */
export async function removeOtherPools(database: Queryable, listed: readonly ListedPool[]): Promise<void> {
  for (const table of [poolListings, listedPools]) await deleteOtherPools(database, table, listed);
}

/** Number of the refresh that was published last; 0 before the first. */
export async function lastGeneration(database: Queryable): Promise<number> {
  const [row] = await queriesOn(database)
    .select({ last: max(listingWindows.generation) })
    .from(listingWindows);
  return row?.last ?? 0;
}

/** Replaces the windows of all chains by those of a generation. */
export async function writeWindows(
  database: Queryable,
  windows: readonly ChainWindow[],
  generation: number,
): Promise<void> {
  const chainIds = windows.map(({ chainId }) => chainId);
  await queriesOn(database).delete(listingWindows).where(notInArray(listingWindows.chainId, chainIds));
  const rows = windows.map((window) => ({ ...window, generation }));
  const computed = { generatedAtTs: sql`extract(epoch FROM now())::int8` };
  await upsertRows(database, listingWindows, rows, { key: ['chainId'], computed });
}
