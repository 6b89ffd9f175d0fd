import { and, eq, getViewSelectedFields, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { alias, type PgColumn } from 'drizzle-orm/pg-core';
import type { Hex } from 'viem';
import { type PoolId, poolRows } from '../../db/pool-id.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { curators, delistedPools, indexAudits, poolStorages } from '../../db/schema/operator.ts';
import { poolStates, pools, priceProviders, tokens } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { TOTAL_NAMES, type TotalName, type Totals, totalColumn } from '../../protocol/pool-totals.ts';
import type { Interpretations } from '../../protocol/stored-layout.ts';
import { type TokenKey, tokenKey } from '../pools/token-key.ts';
import { extensionsOfPool } from './extensions.ts';
import type { LastPrice } from './price-age.ts';

/** Seconds of the two windows that the listing shows. */
export const DAY_SECS = 86_400;
const WEEK_SECS = 7 * DAY_SECS;

/** A price provider made by a known factory. Fields that only another kind of provider has are null. */
export type ProviderRow = typeof priceProviders.$inferSelect;

const ZERO_WORD = `0x${'0'.repeat(64)}`;

/** What is selected of a pool's provider. `quoteFeedId` is null when one feed prices the pair. */
export const PROVIDER_COLUMNS = {
  ...getViewSelectedFields(priceProviders),
  quoteFeedId: sql<Hex | null>`nullif(${priceProviders.quoteFeedId}, ${ZERO_WORD})`,
};

const [token0, token1] = [alias(tokens, 't0'), alias(tokens, 't1')];

const columnsOf = ({ chainId, address, symbol, name, decimals }: typeof token0 | typeof token1) => ({
  chainId,
  address,
  symbol,
  name,
  decimals,
});

/** Selects what a window added to the running totals. */
const totalsOf = (window: 'day' | 'week') =>
  Object.fromEntries(
    TOTAL_NAMES.map((name) => [
      name,
      sql`${sql.identifier(window)}.${sql.identifier(totalColumn(name))}`.mapWith(BigInt),
    ]),
  ) as { readonly [Name in TotalName]: SQL<Totals[Name]> };

const COLUMNS = {
  ...getViewSelectedFields(pools),
  token0: columnsOf(token0),
  token1: columnsOf(token1),
  adminUsername: curators.username,
  adminVerified: sql<boolean>`coalesce(${curators.verified}, false)`,
  provider: PROVIDER_COLUMNS,
  pauseLevel: poolStates.pauseLevel,
  curBinIdx: poolStates.curBinIdx,
  liquidity0Raw: poolStates.liquidity0Raw,
  liquidity1Raw: poolStates.liquidity1Raw,
  storage: {
    curBinIdx: poolStorages.curBinIdx,
    total0Scaled: poolStorages.total0Scaled,
    total1Scaled: poolStorages.total1Scaled,
  },
  widestBinE6: sql<number | null>`(
    SELECT max(b.length_e6) FROM read_model.pool_bin b WHERE b.chain_id = ${pools.chainId} AND b.pool = ${pools.address})`,
  extensions: extensionsOfPool,
  /** Decided interpretations of the factory. */
  interpretations: sql<Interpretations | null>`(
    SELECT json_object_agg(c.what, c.decided) FROM operator.layout_calibration c
    WHERE c.chain_id = ${pools.chainId} AND c.factory = ${pools.factory})`,
  delisted: sql<boolean>`${isNotNull(delistedPools.pool)}`,
  /** Whether the index of the pool is not what the chain holds. */
  indexDiffers: sql<boolean>`${isNotNull(indexAudits.address)}`,
  day: totalsOf('day'),
  week: totalsOf('week'),
};

/**
 * Selects the Unix second of the pool's first activity later than `after`, plus `movedBy` seconds; null without one.
 */
const nextActivity = (after: SQL, movedBy: number) => sql`(
  SELECT a.block_timestamp + ${sql.raw(String(movedBy))} FROM read_model.pool_activity a
  WHERE a.chain_id = ${pools.chainId} AND a.pool = ${pools.address} AND a.block_timestamp > ${after}
  ORDER BY a.block_timestamp LIMIT 1)`;

/**
 * Selects pools with all that the listing shows of them except prices and status, one row per pool. A row takes a few
 * index lookups, five of them in the pool's running totals.
 *
 * @param toTs end of the 24-hour and 7-day windows, Unix seconds
 */
export function selectPoolFacts(database: Queryable, ids: readonly PoolId[], toTs: number) {
  const { chainId, address } = pools;
  const end = sql`${toTs}::int8`;
  const startOf = (secs: number) => sql`${end} - ${sql.raw(String(secs))}`;
  // OFFSET 0 keeps the planner from computing the window of every pool to pick some of them.
  const windowOf = (secs: number) => sql`LATERAL (
    SELECT * FROM read_model.pool_window(${startOf(secs)}, ${end}) w
    WHERE w.chain_id = ${chainId} AND w.pool = ${address} OFFSET 0)`;
  const isAt = (named: PgColumn, table: { readonly chainId: PgColumn; readonly address: PgColumn }) =>
    and(eq(table.chainId, chainId), eq(table.address, named));
  const isOfPool = (table: { readonly chainId: PgColumn; readonly pool: PgColumn }) =>
    and(eq(table.chainId, chainId), eq(table.pool, address));
  /** End of the first window whose totals differ, unless the pool is active before then. */
  const nextChangeAt = sql<number | null>`least(
    ${nextActivity(end, 0)}, ${nextActivity(startOf(DAY_SECS), DAY_SECS)}, ${nextActivity(startOf(WEEK_SECS), WEEK_SECS)}
  )::float8`;
  return queriesOn(database)
    .select({ ...COLUMNS, nextChangeAt })
    .from(pools)
    .innerJoin(poolRows(ids), sql`k.chain_id = ${chainId} AND k.address = ${address}`)
    .innerJoin(poolStates, isOfPool(poolStates))
    .innerJoin(token0, isAt(pools.token0, token0))
    .innerJoin(token1, isAt(pools.token1, token1))
    .innerJoin(sql`${windowOf(DAY_SECS)} day`, sql`true`)
    .innerJoin(sql`${windowOf(WEEK_SECS)} week`, sql`true`)
    .leftJoin(priceProviders, isAt(pools.priceProvider, priceProviders))
    .leftJoin(poolStorages, and(isOfPool(poolStorages), isNull(poolStorages.refusal)))
    .leftJoin(curators, isAt(pools.admin, curators))
    .leftJoin(delistedPools, isOfPool(delistedPools))
    .leftJoin(indexAudits, and(isAt(pools.address, indexAudits), isNotNull(indexAudits.differsSince)));
}

/** All that the listing needs to know of a pool. */
export type PoolFacts = Readonly<ReturnType<typeof toFacts>>;

/** Adds the last prices of its tokens to a selected row. */
export function toFacts(
  { token0, token1, extensions, interpretations, ...row }: Awaited<ReturnType<typeof selectPoolFacts>>[number],
  prices: ReadonlyMap<TokenKey, LastPrice>,
) {
  const priced = (token: typeof token0) => ({
    ...token,
    lastPrice: prices.get(tokenKey(token.chainId, token.address)) ?? null,
  });
  return {
    ...row,
    tokens: [priced(token0), priced(token1)] as const,
    extensions: extensions ?? [],
    interpretations: interpretations ?? {},
  };
}
