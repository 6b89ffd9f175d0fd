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
import { parseTokenKey, type TokenKey, tokenKey } from '../pools/token-key.ts';
import { type LastPrice, PRICE_AGE, type PriceAge, type PriceTimes } from './price-age.ts';
import type { ListedPool, PoolTier } from './record.ts';

/** The last price of each token that ever had one. */
export type Prices = ReadonlyMap<TokenKey, LastPrice>;

type WindowRow = typeof listingWindows.$inferInsert;

/** Window of one chain. */
export type ChainWindow = Pick<WindowRow, 'chainId' | 'fromTs' | 'toTs' | 'fromBlock' | 'toBlock'>;

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

/** Reads the last price of each token. */
export async function readPrices(database: Queryable, { pricedSince, knownSince }: PriceTimes): Promise<Prices> {
  const { chainId, token, usd, pricedAt } = fiatPrices;
  const age = sql<PriceAge>`CASE WHEN ${gt(pricedAt, pricedSince)} THEN ${sql.raw(String(PRICE_AGE.shown))}
    WHEN ${gt(pricedAt, knownSince)} THEN ${sql.raw(String(PRICE_AGE.ofDay))} ELSE ${sql.raw(String(PRICE_AGE.older))} END`;
  const rows = await queriesOn(database).select({ chainId, token, usd, age }).from(fiatPrices);
  return new Map(rows.map((row) => [tokenKey(row.chainId, row.token), { usd: row.usd, age: row.age }]));
}

/** Replaces the prices that pages show. */
export async function writePrices(database: Queryable, prices: Prices): Promise<void> {
  const rows = [...prices].flatMap(([key, { usd, age }]) => {
    const { chainId, address: token } = parseTokenKey(key);
    return age === PRICE_AGE.shown ? [{ chainId, token, usd }] : [];
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

type PriceTime = Pick<WindowRow, 'chainId' | 'fiatPriceTs' | 'isFiatLost'>;

const priceTimesOfChains = loadStatement<PriceTime>('./price-times.sql', import.meta.url);

/**
 * Reads when the newest price of each chain with listed pools was made, and whether it cannot be shown any more.
 *
 * @param source the configured source, whose prices count before others
 */
export const readPriceTimes = (database: Queryable, { pricedSince }: PriceTimes, source: string) =>
  priceTimesOfChains(database, [pricedSince, source]);

/** Replaces the windows of all chains by those of one refresh. */
export async function writeWindows(
  database: Queryable,
  windows: readonly ChainWindow[],
  priceTimes: readonly PriceTime[],
  generation: number,
): Promise<void> {
  const chainIds = windows.map(({ chainId }) => chainId);
  await queriesOn(database).delete(listingWindows).where(notInArray(listingWindows.chainId, chainIds));
  const noPrices = { fiatPriceTs: null, isFiatLost: false };
  const rows = windows.map((window) => ({
    ...noPrices,
    ...window,
    ...priceTimes.find(({ chainId }) => chainId === window.chainId),
    generation,
  }));
  const computed = { generatedAtTs: sql`extract(epoch FROM now())::int8` };
  await upsertRows(database, listingWindows, rows, { key: ['chainId'], computed });
}
