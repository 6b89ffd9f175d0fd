import type pg from 'pg';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { readIndexedBlocks } from '../../db/indexed-blocks.ts';
import { poolKey } from '../../db/pool-id.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import type { TokenAmounts } from './analytics.ts';
import { type DuePool, selectDuePools } from './due-pools.ts';
import { type Packed, pack, unpack } from './packed.ts';
import { DAY_SECS, type PoolFacts, selectPoolFacts, toFacts } from './pool-facts.ts';
import { priceTimes } from './price-age.ts';
import { listPool, type PoolTier } from './record.ts';
import { type IndexedBlock, windowEnd } from './window.ts';
import {
  type ChainWindow,
  type ComputedPool,
  lastPublished,
  type Prices,
  readPrices,
  readPriceTimes,
  writePools,
  writePrices,
  writeWindows,
} from './write-listing.ts';

export type RefreshDeps = {
  readonly database: pg.Pool;
  readonly registry: OperatorRegistry;
  /** Finds the last block of `indexed`'s chain at or before a time; -1 when the chain began later. */
  readonly findBlockAt: (timestamp: number, indexed: IndexedBlock) => Promise<number>;
  /** Values by an older fiat price are not shown. */
  readonly fiatMaxAgeSecs: number;
  /** What makes prices, as the chains file says. Default: `defillama`. */
  readonly fiatSource?: string;
  /** Version of the code and settings that compute pools. What another version computed is computed again. */
  readonly version: string;
  /** Gives the tier of a pool; null for one that has none. */
  readonly classify: (facts: PoolFacts, registry: OperatorRegistry) => PoolTier | null;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
};

/** Pools read at a time: enough for few round trips, and too few to block the event loop for long. */
const SLICE = 1_000;

/**
 * Computes the pools that changed since they were last computed, with one window for all. It publishes them in one
 * transaction, so that a reader sees the old listing or the new one. Pools are read in parts, so that no read
 * transaction lasts while many are computed. A pool that changes meanwhile is computed by the next refresh. The process
 * keeps nothing between refreshes.
 *
 * @returns number of pools computed; null while nothing is indexed
 * @throws an error of Postgres, also when no index is served
 */
export function refreshListing(deps: RefreshDeps): Promise<number | null> {
  const { database, fiatMaxAgeSecs, fiatSource = 'defillama', version, wallClock } = deps;
  return inTransaction(database, 'READ COMMITTED', async (publisher) => {
    // The lock is held while pools are computed too, so that what is published later was also read later.
    await publisher.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.listing]);
    const blocks = [...(await readIndexedBlocks(database))].map(([chainId, block]) => ({ chainId, ...block }));
    const last = await lastPublished(database);
    const toTs = windowEnd(blocks, last.toTs);
    if (toTs === null) return null;
    const generation = last.generation + 1;
    const times = priceTimes(wallClock(), fiatMaxAgeSecs);
    const prices = await readPrices(database, times);
    const isBack = last.toTs !== null && toTs < last.toTs;
    const due = await selectDuePools(database, { version, toTs, isBack, ...times });
    // Packed, a pool takes half a kilobyte. This matters because all pools may be due, and anyone can create more.
    const parts: Packed<ComputedPool[]>[] = [];
    for (let start = 0; start < due.length; start += SLICE) {
      const computed = await computePools(deps, due.slice(start, start + SLICE), prices, { toTs, generation });
      parts.push(await pack(computed));
    }
    const windows = await Promise.all(blocks.map((block) => chainWindow(block, toTs, deps)));
    for (const part of parts) await writePools(publisher, await unpack(part));
    await writePrices(publisher, prices);
    await writeWindows(publisher, windows, await readPriceTimes(publisher, times, fiatSource), generation);
    return due.length;
  });
}

/** Computes the pools of one part, with their tiers. */
async function computePools(
  { database, registry, classify }: RefreshDeps,
  due: readonly DuePool[],
  prices: Prices,
  { toTs, generation }: { readonly toTs: number; readonly generation: number },
): Promise<ComputedPool[]> {
  const rows = await selectPoolFacts(database, due, toTs);
  const factsOf = new Map(
    rows.map((row) => [poolKey({ chainId: row.chainId, pool: row.address }), toFacts(row, prices)]),
  );
  return due.map(({ chainId, pool, source }) => {
    const facts = factsOf.get(poolKey({ chainId, pool }));
    const classification = facts ? classify(facts, registry) : null;
    const listed = facts ? listPool(facts, classification, registry) : null;
    const repriced = facts && listed ? repricing(facts, listed.liquidityRaw) : NEVER_REPRICED;
    return {
      chainId,
      pool,
      listed: listed?.pool ?? null,
      classification,
      source: source === null ? null : { source, generation, ...repriced },
    };
  });
}

const NEVER_REPRICED = {
  amount0: null,
  amount1: null,
  price0: null,
  price1: null,
  priceAge0: null,
  priceAge1: null,
  nextChangeAt: null,
};

/** Gives what later refreshes compare to see that a pool must be computed again although none of its rows changed. */
function repricing({ tokens: [token0, token1], nextChangeAt }: PoolFacts, [raw0, raw1]: TokenAmounts) {
  const whole = (raw: bigint, decimals: number | null) => (decimals === null ? 0 : Number(raw) / 10 ** decimals);
  return {
    amount0: whole(raw0, token0.decimals),
    amount1: whole(raw1, token1.decimals),
    price0: token0.lastPrice?.usd ?? null,
    price1: token1.lastPrice?.usd ?? null,
    priceAge0: token0.lastPrice?.age ?? null,
    priceAge1: token1.lastPrice?.age ?? null,
    nextChangeAt,
  };
}

async function chainWindow(indexed: IndexedBlock, toTs: number, { findBlockAt }: RefreshDeps): Promise<ChainWindow> {
  const fromTs = toTs - DAY_SECS;
  const lastBefore = await findBlockAt(fromTs, indexed);
  const toBlock = indexed.timestamp <= toTs ? indexed.number : await findBlockAt(toTs, indexed);
  return { chainId: indexed.chainId, fromTs, toTs, fromBlock: lastBefore + 1, toBlock };
}
