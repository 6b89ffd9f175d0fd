import { max } from 'drizzle-orm';
import type pg from 'pg';
import { queriesOn } from '../../db/query-builder.ts';
import { migrations } from '../../db/schema/operator.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { changedKeys } from '../changes/changed-keys.ts';
import { readMark } from '../changes/changed-pools.ts';
import { type PoolKey, poolKey } from '../changes/pool-key.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { type Due, duePools, type Published, type Seen } from './due-pools.ts';
import { holdings, type KnownPool, knownPool } from './known-pools.ts';
import { isOfVersion, readListingState, readPublished, writeListingState } from './listing-state.ts';
import { readOutsideData } from './outside-data.ts';
import { toFacts } from './pool-facts.ts';
import { type ListedPool, listPool, type Progress } from './record.ts';
import { DAY_SECS, selectPoolFacts } from './select-pool-facts.ts';
import { type IndexedBlock, readHeads, windowEnd } from './window.ts';
import {
  type ChainWindow,
  lastPublished,
  readShownPrices,
  removeOtherPools,
  removePools,
  upsertPools,
  writePrices,
  writeWindows,
} from './write-listing.ts';

export type RefreshDeps = {
  readonly database: pg.Pool;
  readonly registry: OperatorRegistry;
  /** The last block of `indexed`'s chain at or before a time; -1 when the chain began later. */
  readonly findBlockAt: (timestamp: number, indexed: IndexedBlock) => Promise<number>;
  /** An older fiat price is ignored. */
  readonly fiatMaxAgeSecs: number;
  /** Pools that are not funded of which a refresh computes so many at new prices, in turn. */
  readonly repricedPools?: number | undefined;
  /** USD of priced liquidity from which on a pool is funded: it is computed at each change of its tokens' prices. */
  readonly repricedFromUsd?: number | undefined;
  /** Of the code and settings: rows of the same one are gone on with. Without it a process computes every pool first. */
  readonly version?: string | undefined;
};

/** Of a pool that was computed: whether it is listed, and what tells when it changes by itself, unless nothing can. */
type PoolResult = { readonly isListed: boolean; readonly known: KnownPool | null };
type Refresh = {
  readonly seen: Seen;
  readonly due: Due;
  readonly computed: ReadonlyMap<PoolKey, PoolResult>;
  /** What was published before it. */
  readonly last: Published | null;
  /** Whether all rows are of one version after it. */
  readonly isWhole: boolean;
};

/** Any fixed number: lets one process refresh at a time. */
const LOCK_ID = 7_203_145_902;
/** Pools read at a time: few round trips, and no long pause of the event loop. */
const SLICE = 1_000;
const REPRICED_POOLS = 500;
const REPRICED_FROM_USD = 1;

/**
 * Keeps the listing ready. A refresh computes the pools that changed since the one before, by whichever process of the same
 * version, or all when that cannot be told; from one snapshot of the database and with one window for all. It publishes in
 * one transaction, so that a reader sees the old listing or the new one.
 *
 * @returns a function that refreshes once and gives the number of pools computed; null while there is no index
 */
export function createListingRefresh(deps: RefreshDeps): () => Promise<number | null> {
  let last: Published | null = null;
  return async () => {
    // Held while it is computed too: what is published later was also read later.
    const published = await inTransaction(deps.database, 'READ COMMITTED', async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK_ID]);
      const read = (reader: Queryable) => computeRefresh(reader, client, deps, last);
      const result = await inTransaction(deps.database, 'REPEATABLE READ', read);
      if (result === null) return null;
      const { refresh, blocks } = result;
      const windows = await Promise.all(blocks.map((block) => chainWindow(block, refresh.seen.toTs, deps)));
      await finish(client, refresh, windows);
      return refresh;
    });
    if (published === null) return null;
    last = follow(published);
    return published.computed.size;
  };
}

/** Reads through one connection and writes through the other, a part of the pools at a time: many take much memory. */
async function computeRefresh(reader: Queryable, writer: Queryable, deps: RefreshDeps, last: Published | null) {
  const blocks = await readHeads(reader);
  const { generation, toTs: lastTs } = await lastPublished(reader);
  const toTs = windowEnd(blocks, lastTs);
  const mark = toTs === null ? null : await readMark(reader);
  if (toTs === null || mark === null) return null;
  const outside = await readOutsideData(reader, deps.fiatMaxAgeSecs);
  const version = deps.version === undefined ? null : `${deps.version} ${await lastMigration(reader)}`;
  const seen = { generation, version, mark, toTs, outside, shownPrices: await readShownPrices(reader) };
  const state = await readListingState(reader);
  const isContinued = isOfVersion(state, seen);
  const { repricedPools: pools = REPRICED_POOLS, repricedFromUsd: fromUsd = REPRICED_FROM_USD } = deps;
  const before = last ?? (state && isContinued ? await readPublished(reader, state, seen.shownPrices, fromUsd) : null);
  const due = await duePools(reader, seen, before, { pools, fromUsd });
  const computed: Map<PoolKey, PoolResult> = new Map();
  for (let start = 0; start < due.keys.length; start += SLICE) {
    const keys = due.keys.slice(start, start + SLICE);
    const { listed, results } = await computePools(reader, keys, seen, due, { registry: deps.registry, fromUsd });
    await upsertPools(writer, listed);
    for (const [key, result] of results) computed.set(key, result);
  }
  const refresh: Refresh = { seen, due, computed, last: before, isWhole: due.isAll || isContinued };
  return { blocks, refresh };
}

/** Migrations may change what views show. */
async function lastMigration(reader: Queryable): Promise<string | null> {
  const [row] = await queriesOn(reader)
    .select({ name: max(migrations.name) })
    .from(migrations);
  return row?.name ?? null;
}

async function computePools(
  reader: Queryable,
  keys: readonly PoolKey[],
  { toTs, outside: { prices } }: Seen,
  { look: { recent } }: Due,
  { registry, fromUsd }: { readonly registry: OperatorRegistry; readonly fromUsd: number },
) {
  const listed: (ListedPool & Progress)[] = [];
  const results: Map<PoolKey, PoolResult> = new Map(keys.map((key) => [key, { isListed: false, known: null }]));
  for (const row of await selectPoolFacts(reader, keys, toTs)) {
    const facts = toFacts(row, prices);
    const result = listPool(facts, registry);
    if (result === null) continue;
    const key = poolKey(row.chainId, row.address);
    const held = holdings(facts, result.liquidityRaw);
    const [amount0, amount1] = held.amounts;
    const changedAt = recent.get(key);
    listed.push({
      ...result.pool,
      amount0,
      amount1,
      nextChangeAt: held.nextChangeAt,
      changedAt: changedAt === undefined ? null : new Date(changedAt),
    });
    results.set(key, { isListed: true, known: knownPool(held, prices, fromUsd) });
  }
  return { listed, results };
}

/** Takes out what is listed no more, and tells readers of the refresh. */
async function finish(
  client: Queryable,
  { seen, due, computed, isWhole }: Refresh,
  windows: readonly ChainWindow[],
): Promise<void> {
  const keysOf = (isListed: boolean) =>
    [...computed].filter(([, result]) => result.isListed === isListed).map(([key]) => key);
  if (due.isAll) await removeOtherPools(client, keysOf(true));
  else await removePools(client, keysOf(false));
  const { prices } = seen.outside;
  if (changedKeys(seen.shownPrices, prices).size > 0) await writePrices(client, prices);
  await writeWindows(client, windows, seen.generation + 1);
  await writeListingState(client, seen, isWhole);
}

/** What is known after a refresh was committed. */
function follow({ last, seen, due, computed }: Refresh): Published {
  const known = new Map(due.isAll ? [] : last?.known);
  for (const [key, pool] of computed) {
    if (pool.known) known.set(key, pool.known);
    else known.delete(key);
  }
  const { generation, version, toTs, outside } = seen;
  return { generation: generation + 1, version, toTs, outside, known, look: due.look, waiting: due.waiting };
}

async function chainWindow(indexed: IndexedBlock, toTs: number, { findBlockAt }: RefreshDeps): Promise<ChainWindow> {
  const fromTs = toTs - DAY_SECS;
  const lastBefore = await findBlockAt(fromTs, indexed);
  const toBlock = indexed.timestamp <= toTs ? indexed.number : await findBlockAt(toTs, indexed);
  return { chainId: indexed.chainId, fromTs, toTs, fromBlock: lastBefore + 1, toBlock };
}
