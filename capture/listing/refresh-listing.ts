import type pg from 'pg';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { changedKeys } from '../changes/changed-keys.ts';
import { readMark } from '../changes/changed-pools.ts';
import { type PoolKey, poolKey } from '../changes/pool-key.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { type Due, duePools, type Published, type Seen } from './due-pools.ts';
import { type KnownPool, knownPool } from './known-pools.ts';
import { readOutsideData } from './outside-data.ts';
import { toFacts } from './pool-facts.ts';
import { type ListedPool, listPool } from './record.ts';
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
  /** Pools of less than a dollar that a refresh computes at new prices, in turn. */
  readonly repricedPools?: number | undefined;
};

/** Of a pool that was computed: whether it is listed, and what tells when it changes by itself, unless nothing can. */
type PoolResult = { readonly isListed: boolean; readonly known: KnownPool | null };
type Refresh = { readonly seen: Seen; readonly due: Due; readonly computed: ReadonlyMap<PoolKey, PoolResult> };

/** Any fixed number: lets one process refresh at a time. */
const LOCK_ID = 7_203_145_902;
/** Pools read at a time: few round trips, and no long pause of the event loop. */
const SLICE = 1_000;
const REPRICED_POOLS = 500;

/**
 * Keeps the listing ready. The first refresh of a process computes every pool, each later one those that changed since, from
 * one snapshot of the database and with one window for all. It publishes in one transaction, so that a reader sees the
 * old listing or the new one.
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
    last = follow(last, published);
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
  const seen = { generation, mark, toTs, outside, shownPrices: await readShownPrices(reader) };
  const due = await duePools(reader, seen, last, deps.repricedPools ?? REPRICED_POOLS);
  const computed: Map<PoolKey, PoolResult> = new Map();
  for (let start = 0; start < due.keys.length; start += SLICE) {
    const { listed, results } = await computePools(reader, due.keys.slice(start, start + SLICE), seen, deps.registry);
    await upsertPools(writer, listed);
    for (const [key, result] of results) computed.set(key, result);
  }
  return { blocks, refresh: { seen, due, computed } satisfies Refresh };
}

async function computePools(
  reader: Queryable,
  keys: readonly PoolKey[],
  { toTs, outside: { prices } }: Seen,
  registry: OperatorRegistry,
) {
  const listed: ListedPool[] = [];
  const results: Map<PoolKey, PoolResult> = new Map(keys.map((key) => [key, { isListed: false, known: null }]));
  for (const row of await selectPoolFacts(reader, keys, toTs)) {
    const facts = toFacts(row, prices);
    const result = listPool(facts, registry);
    if (result === null) continue;
    listed.push(result.pool);
    const known = knownPool(facts, result.liquidityRaw, prices);
    results.set(poolKey(row.chainId, row.address), { isListed: true, known });
  }
  return { listed, results };
}

/** Takes out what is listed no more, and tells readers of the refresh. */
async function finish(
  client: Queryable,
  { seen, due, computed }: Refresh,
  windows: readonly ChainWindow[],
): Promise<void> {
  const keysOf = (isListed: boolean) =>
    [...computed].filter(([, result]) => result.isListed === isListed).map(([key]) => key);
  if (due.isAll) await removeOtherPools(client, keysOf(true));
  else await removePools(client, keysOf(false));
  const { prices } = seen.outside;
  if (changedKeys(seen.shownPrices, prices).size > 0) await writePrices(client, prices);
  await writeWindows(client, windows, seen.generation + 1);
}

/** What is known after a refresh was committed. */
function follow(last: Published | null, { seen, due, computed }: Refresh): Published {
  const known = new Map(due.isAll ? [] : last?.known);
  for (const [key, pool] of computed) {
    if (pool.known) known.set(key, pool.known);
    else known.delete(key);
  }
  const { generation, toTs, outside } = seen;
  return { generation: generation + 1, toTs, outside, known, look: due.look, waiting: due.waiting };
}

async function chainWindow(indexed: IndexedBlock, toTs: number, { findBlockAt }: RefreshDeps): Promise<ChainWindow> {
  const fromTs = toTs - DAY_SECS;
  const lastBefore = await findBlockAt(fromTs, indexed);
  const toBlock = indexed.timestamp <= toTs ? indexed.number : await findBlockAt(toTs, indexed);
  return { chainId: indexed.chainId, fromTs, toTs, fromBlock: lastBefore + 1, toBlock };
}
