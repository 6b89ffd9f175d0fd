import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { type MaxAges, readPoolRows, toFacts } from './read-pool-facts.ts';
import { type ListedPool, listPool } from './record.ts';
import { DAY_SECS, type PoolFactsColumns } from './select-pool-facts.ts';
import { type IndexedBlock, readHeads, windowEnd } from './window.ts';
import { type ChainWindow, lastGeneration, removeOtherPools, upsertPools, writeWindows } from './write-listing.ts';

export type RefreshDeps = MaxAges & {
  readonly database: pg.Pool;
  readonly registry: OperatorRegistry;
  /** The last block of `indexed`'s chain at or before a time; -1 when the chain began later. */
  readonly findBlockAt: (timestamp: number, indexed: IndexedBlock) => Promise<number>;
};

/** What a process published last: it need not be written again as long as no other process published since. */
type Published = { readonly generation: number; readonly pools: ReadonlyMap<string, ListedPool> };

/** Any fixed number: lets one process publish at a time. */
const LOCK_ID = 7_203_145_902;

/**
 * Keeps the listing ready: each refresh computes it whole, from one snapshot of the database and with one window for
 * all pools, and publishes what changed in one transaction, so that a reader sees the old listing or the new one.
 *
 * @returns a function that refreshes once and gives the number of pools listed; null while there is no index
 */
export function createListingRefresh(deps: RefreshDeps): () => Promise<number | null> {
  let last: Published = { generation: -1, pools: new Map() };
  const list = createLister(deps.registry);
  return async () => {
    const computed = await inTransaction(deps.database, 'REPEATABLE READ', (client) => read(client, deps));
    if (computed === null) return null;
    const windows = await Promise.all(computed.blocks.map((block) => chainWindow(block, computed.toTs, deps)));
    const pools = list(computed.rows);
    const publishing = (client: Queryable) => publish(client, pools, windows, last);
    last = { generation: await inTransaction(deps.database, 'READ COMMITTED', publishing), pools };
    return pools.size;
  };
}

async function read(client: Queryable, ages: MaxAges) {
  const blocks = await readHeads(client);
  const toTs = windowEnd(blocks);
  return toTs === null ? null : { blocks, toTs, rows: await readPoolRows(client, toTs, ages) };
}

/** Lists pools, by key; a pool whose row is that of the last time is not computed again. */
function createLister(registry: OperatorRegistry): (rows: readonly PoolFactsColumns[]) => Map<string, ListedPool> {
  let known = new Map<string, { readonly row: PoolFactsColumns; readonly pool: ListedPool | null }>();
  return (rows) => {
    const next: typeof known = new Map();
    for (const row of rows) {
      const key = `${row.chainId}:${row.address}`;
      const before = known.get(key);
      next.set(
        key,
        before && isDeepStrictEqual(before.row, row) ? before : { row, pool: listPool(toFacts(row), registry) },
      );
    }
    known = next;
    return new Map([...next].flatMap(([key, { pool }]) => (pool === null ? [] : [[key, pool] as const])));
  };
}

/** @returns number of the new generation */
async function publish(
  client: Queryable,
  pools: ReadonlyMap<string, ListedPool>,
  windows: readonly ChainWindow[],
  last: Published,
): Promise<number> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK_ID]);
  const before = await lastGeneration(client);
  const isOurs = before === last.generation;
  const known = isOurs ? last.pools : new Map<string, ListedPool>();
  const changed = [...pools].filter(([key, pool]) => !isSame(known.get(key), pool)).map(([, pool]) => pool);
  await upsertPools(client, changed);
  if (!isOurs || [...known.keys()].some((key) => !pools.has(key))) await removeOtherPools(client, [...pools.values()]);
  const generation = before + 1;
  await writeWindows(client, windows, generation);
  return generation;
}

async function chainWindow(indexed: IndexedBlock, toTs: number, { findBlockAt }: RefreshDeps): Promise<ChainWindow> {
  const fromTs = toTs - DAY_SECS;
  const lastBefore = await findBlockAt(fromTs, indexed);
  const toBlock = indexed.timestamp <= toTs ? indexed.number : await findBlockAt(toTs, indexed);
  return { chainId: indexed.chainId, fromTs, toTs, fromBlock: lastBefore + 1, toBlock };
}

function isSame<T extends object>(a: T | undefined, b: T): boolean {
  return a !== undefined && (a === b || (Object.keys(b) as (keyof T)[]).every((key) => a[key] === b[key]));
}
