import { max, notInArray, sql } from 'drizzle-orm';
import { queriesOn } from '../../db/query-builder.ts';
import { listedPools, listingPrices, listingWindows, poolListings } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deleteOtherPools, deletePools, upsertRows } from '../../db/write-rows.ts';
import { type PoolKey, parsePoolKey } from '../changes/pool-key.ts';
import { parseTokenKey, tokenKey } from '../fiat/token-key.ts';
import type { Prices } from './known-pools.ts';
import type { ListedPool, Progress } from './record.ts';

/** Window of one chain. */
export type ChainWindow = Omit<typeof listingWindows.$inferInsert, 'generation' | 'generatedAtTs'>;

/** Rows per statement: large enough to save round trips, small enough to keep statements short. */
const BATCH = 1_000;

/** Inserts pools and updates those whose values differ; a row that did not change is not rewritten. */
export async function upsertPools(
  database: Queryable,
  pools: readonly (ListedPool & Partial<Progress>)[],
): Promise<void> {
  for (let start = 0; start < pools.length; start += BATCH) {
    const batch = pools.slice(start, start + BATCH);
    await upsertRows(database, poolListings, batch, { key: ['chainId', 'pool'] });
    await upsertRows(database, listedPools, batch, { key: ['chainId', 'pool'] });
  }
}

/** Takes out what is listed no more: a pool that a reorganisation undid, or whose deployment was disabled. */
export async function removeOtherPools(database: Queryable, listed: readonly PoolKey[]): Promise<void> {
  const kept = listed.map(parsePoolKey);
  for (const table of [poolListings, listedPools]) await deleteOtherPools(database, table, kept);
}

/** Takes these pools out, if they are listed. */
export async function removePools(database: Queryable, keys: readonly PoolKey[]): Promise<void> {
  for (const table of [poolListings, listedPools]) await deletePools(database, table, keys.map(parsePoolKey));
}

/** Prices that pages show. */
export async function readShownPrices(database: Queryable): Promise<Prices> {
  const rows = await queriesOn(database).select().from(listingPrices);
  return new Map(rows.map(({ chainId, token, usd }) => [tokenKey(chainId, token), usd]));
}

/** Replaces the prices that pages show. */
export async function writePrices(database: Queryable, prices: Prices): Promise<void> {
  const rows = [...prices].map(([key, usd]) => {
    const { chainId, address: token } = parseTokenKey(key);
    return { chainId, token, usd };
  });
  await upsertRows(database, listingPrices, rows, { key: ['chainId', 'token'] });
  const [chainIds, tokens] = [sql.param(rows.map(({ chainId }) => chainId)), sql.param(rows.map(({ token }) => token))];
  await queriesOn(database).execute(sql`DELETE FROM ${listingPrices} WHERE NOT EXISTS (
    SELECT FROM unnest(${chainIds}::int8[], ${tokens}::text[]) AS k (chain_id, token)
    WHERE k.chain_id = ${listingPrices.chainId} AND k.token = ${listingPrices.token})`);
}

/** Number of the refresh that was published last, 0 before the first, and the end of its window. */
export async function lastPublished(database: Queryable) {
  const [row] = await queriesOn(database)
    .select({ generation: max(listingWindows.generation), toTs: max(listingWindows.toTs) })
    .from(listingWindows);
  return { generation: row?.generation ?? 0, toTs: row?.toTs ?? null };
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
