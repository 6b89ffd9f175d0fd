import { and, eq, gt, isNotNull, ne, or, sql } from 'drizzle-orm';
import { queriesOn } from '../../db/query-builder.ts';
import { listingStates, poolListings } from '../../db/schema/operator.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import { type PoolKey, poolKey } from '../changes/pool-key.ts';
import { RECENT_SECS } from '../changes/recent-changes.ts';
import { tokenKey } from '../fiat/token-key.ts';
import type { Published, Seen } from './due-pools.ts';
import { type KnownPool, knownPool, type Prices } from './known-pools.ts';

/** What the listing stands for, written with each refresh. */
export type ListingState = typeof listingStates.$inferSelect;

const ROWS_AT_ONCE = 10_000;

/** @returns null while there is none, or when the table was copied from elsewhere: numbers of transactions mean nothing then */
export async function readListingState(reader: Queryable): Promise<ListingState | null> {
  const isOwn = sql`${listingStates}.xmin = ${listingStates.writtenBy}::xid`;
  const [state] = await queriesOn(reader).select().from(listingStates).where(isOwn);
  return state ?? null;
}

/** Whether every listed row was computed as this process computes them. */
export const isOfVersion = (state: ListingState | null, { version, generation }: Seen): boolean =>
  version !== null && state?.version === version && state.generation === generation;

/** What the process that published the listing knew when it did. */
export async function readPublished(
  reader: Queryable,
  state: ListingState,
  prices: Prices,
  fundedUsd: number,
): Promise<Published> {
  const { generation, version, toTs, curators, readings, publishedAt } = state;
  const recentFrom = new Date(publishedAt.getTime() - RECENT_SECS * 1_000);
  const { known, recent, delisted } = await readKnownPools(reader, prices, fundedUsd, recentFrom);
  const mark = { schema: state.indexSchema, index: state.indexId, xmin: state.unseenFrom };
  // Which of these waited for other prices is not written: all do.
  const small = [...known].filter(([, { isFunded, amounts }]) => !isFunded && amounts.some((amount) => amount > 0));
  return {
    generation,
    version,
    toTs,
    known,
    waiting: new Set(small.map(([key]) => key)),
    outside: { prices, readings, delisted, curators: new Map(curators) },
    look: { mark, recent },
  };
}

/** @param recentFrom what changed later may still be undone */
async function readKnownPools(reader: Queryable, prices: Prices, fundedUsd: number, recentFrom: Date) {
  const known: Map<PoolKey, KnownPool> = new Map();
  const recent: Map<PoolKey, number> = new Map();
  const delisted: Set<PoolKey> = new Set();
  const now = Date.now();
  let after: ListedRow | undefined;
  do {
    const rows = await readRows(reader, recentFrom, after);
    for (const { chainId, pool, token0, token1, amount0, amount1, nextChangeAt, changedAt, tier } of rows) {
      const key = poolKey(chainId, pool);
      if (tier === 'black') delisted.add(key);
      if (changedAt !== null && changedAt > recentFrom) recent.set(key, now);
      // Its pool is gone.
      if (token0 === null || token1 === null) continue;
      const tokens = [tokenKey(chainId, token0), tokenKey(chainId, token1)] as const;
      const one = knownPool({ tokens, amounts: [amount0 ?? 0, amount1 ?? 0], nextChangeAt }, prices, fundedUsd);
      if (one) known.set(key, one);
    }
    after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1);
  } while (after);
  return { known, recent, delisted };
}

type ListedRow = Awaited<ReturnType<typeof readRows>>[number];

/** The next listed pools that may change by themselves, be undone or be listed again. */
function readRows(reader: Queryable, recentFrom: Date, after: { chainId: number; pool: string } | undefined) {
  const { chainId, pool, amount0, amount1, nextChangeAt, changedAt, tier } = poolListings;
  return queriesOn(reader)
    .select({
      chainId,
      pool,
      amount0,
      amount1,
      nextChangeAt,
      changedAt,
      tier,
      token0: sql<`0x${string}` | null>`${pools.token0}`,
      token1: sql<`0x${string}` | null>`${pools.token1}`,
    })
    .from(poolListings)
    .leftJoin(pools, and(eq(pools.chainId, chainId), eq(pools.address, pool)))
    .where(
      and(
        sql`(${chainId}, ${pool}) > (${after?.chainId ?? 0}, ${after?.pool ?? ''})`,
        or(ne(amount0, 0), ne(amount1, 0), isNotNull(nextChangeAt), gt(changedAt, recentFrom), eq(tier, 'black')),
      ),
    )
    .orderBy(chainId, pool)
    .limit(ROWS_AT_ONCE);
}

/** @param isWhole whether every row is of this version */
export async function writeListingState(client: Queryable, seen: Seen, isWhole: boolean): Promise<void> {
  const { mark, toTs, generation, version, outside } = seen;
  const row = {
    isOnly: true,
    generation: generation + 1,
    version: isWhole ? version : null,
    toTs,
    indexSchema: mark.schema,
    indexId: mark.index,
    unseenFrom: mark.xmin,
    curators: [...outside.curators],
    readings: outside.readings,
    publishedAt: new Date(),
  };
  const computed = { writtenBy: sql`pg_current_xact_id()` };
  await upsertRows(client, listingStates, [row], { key: ['isOnly'], computed, evenIfSame: true });
}
