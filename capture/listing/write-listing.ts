import { gt, max, notInArray, sql } from 'drizzle-orm';
import { loadStatement } from '../../db/load-statement.ts';
import type { PoolId } from '../../db/pool-id.ts';
import { queriesOn } from '../../db/query-builder.ts';
import {
  fiatPrices,
  listedPools,
  listingPrices,
  listingSources,
  listingWindows,
  poolClassifications,
  poolListings,
} from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deletePools, upsertRows } from '../../db/write-rows.ts';
import { parseTokenKey, type TokenKey, tokenKey } from '../fiat/token-key.ts';
import type { ListedPool, PoolTier } from './record.ts';

/** USD per whole token. */
export type Prices = ReadonlyMap<TokenKey, number>;

/** Window of one chain. */
export type ChainWindow = Omit<typeof listingWindows.$inferInsert, 'generation' | 'generatedAtTs'>;

/** What was computed of a pool. A null part removes what is stored of it. */
export type ComputedPool = PoolId & {
  readonly listed: ListedPool | null;
  readonly classification: PoolTier | null;
  /** Null when the pool is not in the index. */
  readonly source: Omit<typeof listingSources.$inferInsert, keyof PoolId> | null;
};

const deleteOtherPrices = loadStatement('./delete-other-prices.sql', import.meta.url);

/** Rows are those of one chain and pool. */
const POOL = { key: ['chainId', 'pool'] } as const;

/** Stores computed pools, or removes them; a row that did not change is not rewritten. */
export async function writePools(database: Queryable, pools: readonly ComputedPool[]): Promise<void> {
  const without = (part: 'listed' | 'classification' | 'source') => pools.filter((pool) => pool[part] === null);
  const listed = pools.flatMap((pool) => pool.listed ?? []);
  for (const table of [poolListings, listedPools]) {
    await upsertRows(database, table, listed, POOL);
    await deletePools(database, table, without('listed'));
  }
  const classified = pools.flatMap(({ chainId, pool, classification }) =>
    classification ? [{ chainId, pool, ...classification, reasonCodes: [...classification.reasonCodes] }] : [],
  );
  await upsertRows(database, poolClassifications, classified, { ...POOL, computed: { classifiedAt: sql`now()` } });
  await deletePools(database, poolClassifications, without('classification'));
  const sources = pools.flatMap(({ chainId, pool, source }) => (source ? [{ chainId, pool, ...source }] : []));
  await upsertRows(database, listingSources, sources, POOL);
  await deletePools(database, listingSources, without('source'));
}

/** Reads prices made after `pricedSince`. */
export async function readPrices(database: Queryable, pricedSince: Date): Promise<Prices> {
  const rows = await queriesOn(database).select().from(fiatPrices).where(gt(fiatPrices.pricedAt, pricedSince));
  return new Map(rows.map(({ chainId, token, usd }) => [tokenKey(chainId, token), usd]));
}

/** Replaces the prices that pages show. */
export async function writePrices(database: Queryable, prices: Prices): Promise<void> {
  const rows = [...prices].map(([key, usd]) => {
    const { chainId, address: token } = parseTokenKey(key);
    return { chainId, token, usd };
  });
  await upsertRows(database, listingPrices, rows, { key: ['chainId', 'token'] });
  await deleteOtherPrices(database, [rows.map(({ chainId }) => chainId), rows.map(({ token }) => token)]);
}

/** Reads the number of the refresh that was published last, 0 before the first, and the end of its window. */
export async function lastPublished(database: Queryable) {
  const [row] = await queriesOn(database)
    .select({ generation: max(listingWindows.generation), toTs: max(listingWindows.toTs) })
    .from(listingWindows);
  return { generation: row?.generation ?? 0, toTs: row?.toTs ?? null };
}

/** Replaces the windows of all chains by those of one refresh. */
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
