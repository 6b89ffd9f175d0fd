import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { stateOf } from '../../chain/pending-state.ts';
import { perObject } from '../../runtime/per-object.ts';
import { guardPlan, type ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { HeadContext, Kinds, PriceSnapshot, QuoteKind, Snapshot } from '../types.ts';
import type { CachedRead } from './cached-read.ts';

/** The reads of one pool at one head, each started when it is first asked for. */
export interface Entry {
  readonly pool: ServedPool;
  readonly head: HeadContext;
  readonly reads: { [K in QuoteKind]?: CachedRead<Kinds[K]> };
}

/** One entry per pool, of the newest block it was requested at: those requested last. */
export class PoolEntries {
  readonly #entries: LRUCache<Address, Entry>;

  /** @param cacheBins bound, in bins of all pools */
  constructor(cacheBins: number) {
    this.#entries = new LRUCache({
      maxSize: cacheBins,
      sizeCalculation: ({ pool: { immutables } }) => immutables.highestBin - immutables.lowestBin + 1,
    });
  }

  get({ address }: ServedPool): Entry | undefined {
    return this.#entries.get(address);
  }

  /** The entry, which does not count as requested by this. */
  peek({ address }: ServedPool): Entry | undefined {
    return this.#entries.peek(address);
  }

  /** The entry of a pool at this head, or at one that is the newest, which `isCurrent` says; a new one otherwise. */
  at(head: HeadContext, pool: ServedPool, isCurrent: (head: HeadContext) => boolean): Entry {
    const known = this.#entries.get(pool.address);
    if (known && (stateOf(known.head.block) === stateOf(head.block) || isCurrent(known.head))) return known;
    const entry: Entry = { pool, head, reads: {} };
    this.#entries.set(pool.address, entry);
    return entry;
  }

  pricesSoFar(pool: ServedPool): PriceSnapshot | undefined {
    const outcome = this.peek(pool)?.reads.prices?.settled;
    return outcome instanceof SnapshotError ? undefined : outcome;
  }

  /** The outcome at a newer block, if it came first: a client must not get an older block than others already saw. */
  newerOutcome<K extends QuoteKind>(kind: K, { pool, head }: Entry): Kinds[K] | undefined {
    const latest = this.get(pool);
    if (!latest || latest.head.block.number <= head.block.number) return undefined;
    const outcome = latest.reads[kind]?.settled;
    return outcome instanceof SnapshotError ? undefined : outcome;
  }
}

/** The kind of read that serves a request. Prices of a guarded pool need depth, which shows the sides guards close. */
export const readKind = (pool: ServedPool, kind: QuoteKind): QuoteKind =>
  kind === 'prices' && isGuarded(pool) ? 'depths' : kind;

const planOf = perObject(guardPlan);
export const isGuarded = (pool: ServedPool): boolean => planOf(pool).kind !== 'none';

/** Leaves out the depth. The same snapshot gives the same object, so that its serialised quote is reused. */
export const withoutLevels = perObject(
  (snapshot: Snapshot): Snapshot => (snapshot.depth ? { ...snapshot, depth: null } : snapshot),
);
