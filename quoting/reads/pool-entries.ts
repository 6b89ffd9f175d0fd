import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { isSameState } from '../../chain/pending-state.ts';
import { perObject } from '../../runtime/per-object.ts';
import { guardPlan, type ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { HeadContext, Kinds, PriceSnapshot, QuoteKind, Snapshot } from '../types.ts';
import { CachedRead } from './cached-read.ts';
import type { PoolReader } from './pool-reader.ts';

/** The reads of one pool at one head, each started when it is first asked for. */
export interface Entry {
  readonly pool: ServedPool;
  readonly head: HeadContext;
  readonly reads: { [K in QuoteKind]?: CachedRead<Kinds[K]> };
}

/** The read that a request needs, and how it came to it. */
export interface StartedRead<K extends QuoteKind> {
  readonly entry: Entry;
  readonly read: CachedRead<Kinds[K]>;
  readonly source: 'cached' | 'joined' | 'read';
}

export interface PoolEntriesDeps {
  readonly reader: Pick<PoolReader, 'prices' | 'depth'>;
  /** Bound, in bins of all pools. */
  readonly cacheBins: number;
  /** Whether this is the newest head. */
  readonly isCurrent: (head: HeadContext) => boolean;
}

/** One entry per pool, of the newest block it was requested at: those requested last. Each read is started once. */
export class PoolEntries {
  readonly #deps: PoolEntriesDeps;
  readonly #entries: LRUCache<Address, Entry>;

  constructor(deps: PoolEntriesDeps) {
    this.#deps = deps;
    this.#entries = new LRUCache({
      maxSize: deps.cacheBins,
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

  /** Gives the read that a request needs, and starts it unless another request did. */
  read<K extends QuoteKind>(kind: K, head: HeadContext, pool: ServedPool): StartedRead<K> {
    const before = this.#pricesSoFar(pool);
    const entry = this.#at(head, pool);
    const known = entry.reads[kind];
    if (known && !mayGiveMore(entry, known)) return { entry, read: known, source: known.settled ? 'cached' : 'joined' };
    return { entry, read: this.#start[kind](entry, head, before), source: 'read' };
  }

  /** The entry of a pool at this head, or at one that is the newest; a new one otherwise. */
  #at(head: HeadContext, pool: ServedPool): Entry {
    const known = this.#entries.get(pool.address);
    if (known && (isSameState(known.head.block, head.block) || this.#deps.isCurrent(known.head))) return known;
    const entry: Entry = { pool, head, reads: {} };
    this.#entries.set(pool.address, entry);
    return entry;
  }

  #pricesSoFar(pool: ServedPool): PriceSnapshot | undefined {
    const outcome = this.peek(pool)?.reads.prices?.settled;
    return outcome instanceof SnapshotError || outcome?.isProvisional ? undefined : outcome;
  }

  readonly #start: {
    readonly [K in QuoteKind]: (entry: Entry, head: HeadContext, before?: PriceSnapshot) => CachedRead<Kinds[K]>;
  } = {
    prices: (entry, head, before) => {
      entry.reads.prices = new CachedRead(this.#deps.reader.prices(head, { pool: entry.pool, before }));
      return entry.reads.prices;
    },
    depths: (entry, head, before) => {
      const known = entry.reads.prices;
      const prices = known && !mayGiveMore(entry, known) ? known : this.#start.prices(entry, head, before);
      entry.reads.depths = new CachedRead(
        prices.outcome.then((read) => {
          if (read instanceof SnapshotError) throw read;
          return this.#deps.reader.depth(head, read);
        }),
      );
      return entry.reads.depths;
    },
  };

  /** The outcome at a newer block, if it came first: a client must not get an older block than others already saw. */
  newerOutcome<K extends QuoteKind>(kind: K, { pool, head }: Entry): Kinds[K] | undefined {
    const latest = this.get(pool);
    if (!latest || latest.head.block.number <= head.block.number) return undefined;
    const outcome = latest.reads[kind]?.settled;
    return outcome instanceof SnapshotError ? undefined : outcome;
  }
}

/** Whether an outcome is of another block than its entry: nodes refused that one, which may be the head again since. */
export const isOfOther = ({ head }: Entry, outcome: Snapshot | SnapshotError | undefined): boolean =>
  outcome !== undefined && !(outcome instanceof SnapshotError) && outcome.block.hash !== head.block.hash;

/** Whether the pool of an entry is worth another read at its head. */
export const mayGiveMore = (entry: Entry, read: CachedRead<Snapshot>): boolean =>
  read.mayRetry || isOfOther(entry, read.settled);

/** The kind of read that serves a request. Prices of a guarded pool need depth, which shows the sides guards close. */
export const readKind = (pool: ServedPool, kind: QuoteKind): QuoteKind =>
  kind === 'prices' && isGuarded(pool) ? 'depths' : kind;

const planOf = perObject(guardPlan);
export const isGuarded = (pool: ServedPool): boolean => planOf(pool).kind !== 'none';

/** Leaves out the depth. The same snapshot gives the same object, so that its serialised quote is reused. */
export const withoutLevels = perObject(
  (snapshot: Snapshot): Snapshot => (snapshot.depth ? { ...snapshot, depth: null } : snapshot),
);
