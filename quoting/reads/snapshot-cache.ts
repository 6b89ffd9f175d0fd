import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { stateOf } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { Heads } from '../heads/heads.ts';
import { guardPlan, type ServedPool } from '../pools/pool-directory.ts';
import { BlockTooOldError, isExhausted, SnapshotError } from '../snapshot-error.ts';
import type { SnapshotObserver } from '../snapshot-metrics.ts';
import type {
  ChainSnapshots,
  DepthSnapshot,
  HeadContext,
  Kinds,
  PriceSnapshot,
  QuoteKind,
  ReadOptions,
  Snapshot,
  SnapshotMap,
} from '../types.ts';
import type { PoolReader } from './pool-reader.ts';

export interface SnapshotCacheDeps {
  readonly heads: Pick<Heads, 'current' | 'fresh' | 'head' | 'isTooOld'>;
  readonly reader: Pick<PoolReader, 'prices' | 'depth'> & {
    /** Whether a pool is read already at a block where this cache has not read it. Default: no. */
    isRead?(kind: QuoteKind, head: HeadContext, pool: ServedPool): boolean;
  };
  /** Where heads may be blocks that are being built, the snapshots at the committed head, which remain when these go. */
  readonly committed?: Pick<SnapshotCache, 'read'> | undefined;
  /** Longest wait for a read that another request started. */
  readonly waitTimeoutMs: number;
  /** Longest wait for the head. */
  readonly readTimeoutMs: number;
  /** Bound of the cache, in bins. */
  readonly cacheBins: number;
  /** Whether a request whose own read times out gets `unavailable` (503), as on Ethereum, instead of `failed` (500). */
  readonly slowIsUnavailable: boolean;
  readonly observer: Pick<Partial<SnapshotObserver>, 'lookup'>;
}

/** The reads of one pool at one head, each started when it is first asked for. */
interface Entry {
  readonly pool: ServedPool;
  readonly head: HeadContext;
  readonly reads: { [K in QuoteKind]?: CachedRead<Kinds[K]> };
}

/** The snapshots of one chain, shared by all requests: one entry per pool, of the newest block it was requested at. */
export class SnapshotCache implements ChainSnapshots {
  readonly #deps: SnapshotCacheDeps;
  readonly #entries: LRUCache<Address, Entry>;

  constructor(deps: SnapshotCacheDeps) {
    this.#deps = deps;
    this.#entries = new LRUCache({
      maxSize: deps.cacheBins,
      sizeCalculation: ({ pool: { immutables } }) => immutables.highestBin - immutables.lowestBin + 1,
    });
  }

  cached(pool: ServedPool, kind: QuoteKind): Snapshot | undefined {
    const snapshot = this.#fresh(pool, kind);
    if (snapshot) this.#deps.observer.lookup?.('cached');
    return snapshot;
  }

  isCached(snapshot: Snapshot, kind: QuoteKind): boolean {
    const isFresh = this.#fresh(snapshot.pool, kind) === snapshot;
    if (isFresh) this.#deps.observer.lookup?.('cached');
    return isFresh;
  }

  #fresh(pool: ServedPool, kind: QuoteKind): Snapshot | undefined {
    const head = this.#deps.heads.fresh();
    const entry = head && this.#entries.get(pool.address);
    if (!entry || stateOf(entry.head.block) !== stateOf(head.block)) return undefined;
    const outcome = entry.reads[readKind(pool, kind)]?.settled;
    if (!outcome || outcome instanceof SnapshotError) return undefined;
    return kind === 'prices' ? withoutLevels(outcome) : outcome;
  }

  isRead(pool: ServedPool, kind: QuoteKind): boolean {
    const { current } = this.#deps.heads;
    const entry = this.#entries.peek(pool.address);
    const read = entry && this.#isCurrent(entry.head) ? entry.reads[readKind(pool, kind)] : undefined;
    if (read) return !read.mayRetry;
    return (current && this.#deps.reader.isRead?.(readKind(pool, kind), current, pool)) ?? false;
  }

  async prices(pools: readonly ServedPool[], options: ReadOptions = {}): Promise<SnapshotMap> {
    const [guarded, free] = [pools.filter(isGuarded), pools.filter((pool) => !isGuarded(pool))];
    const [depths, prices] = await Promise.all([
      this.read('depths', guarded, options),
      this.read('prices', free, options),
    ]);
    const read = [...depths].map(([address, outcome]) => {
      return [address, outcome instanceof SnapshotError ? outcome : withoutLevels(outcome)] as const;
    });
    return new Map<Address, Snapshot | SnapshotError>([...prices, ...read]);
  }

  depths(pools: readonly ServedPool[], options: ReadOptions = {}): Promise<SnapshotMap<DepthSnapshot>> {
    return this.read('depths', pools, options);
  }

  /** What `prices` and `depths` are made of: prices of a guarded pool do not show yet which sides its guards close. */
  async read<K extends QuoteKind>(
    kind: K,
    pools: readonly ServedPool[],
    options: ReadOptions = {},
  ): Promise<Map<Address, Kinds[K] | SnapshotError>> {
    const outcomes = await this.#readOnce(kind, pools, options);
    const { signal, at } = options;
    if (at) return outcomes;
    const again = { ...(signal && { signal }) };
    // A request that joined a scheduled read reads by itself when the budget of that read is exhausted.
    const unbudgeted = pools.filter(({ address }) => isExhausted(outcomes.get(address)));
    if (unbudgeted.length > 0) for (const each of await this.read(kind, unbudgeted, again)) outcomes.set(...each);
    const { committed } = this.#deps;
    if (!committed) return outcomes;
    // Of blocks that landed during the read, the next one is tried once, then the committed head.
    const landed = () => pools.filter(({ address }) => this.#hasLanded(outcomes.get(address)));
    if (landed().length > 0) for (const each of await this.#readOnce(kind, landed(), again)) outcomes.set(...each);
    if (landed().length > 0) for (const each of await committed.read(kind, landed(), again)) outcomes.set(...each);
    return outcomes;
  }

  /** Whether a snapshot is of a block that was being built, and is not any more. */
  #hasLanded(outcome: Snapshot | SnapshotError | undefined): boolean {
    if (!outcome || outcome instanceof SnapshotError || !outcome.block.pending) return false;
    return this.#deps.heads.isTooOld(outcome.block);
  }

  async #readOnce<K extends QuoteKind>(
    kind: K,
    pools: readonly ServedPool[],
    { signal, at }: ReadOptions,
  ): Promise<Map<Address, Kinds[K] | SnapshotError>> {
    const head = at ? this.#newest(at) : (this.#deps.heads.fresh() ?? (await this.#awaitHead(signal)));
    if (head instanceof SnapshotError) return new Map(pools.map(({ address }) => [address, head]));
    const shared = pools.map((pool) => this.#startRead(kind, head, pool));
    for (const source of ['cached', 'joined', 'read'] as const) {
      const count = shared.filter((each) => each.source === source).length;
      if (count > 0) this.#deps.observer.lookup?.(source, count);
    }
    const pending = shared.filter(({ read }) => read.settled === undefined);
    if (pending.length > 0) {
      const [own, others] = [pending.filter(({ isFirst }) => isFirst), pending.filter(({ isFirst }) => !isFirst)];
      await Promise.all([waitFor(own, signal), waitFor(others, signal, this.#deps.waitTimeoutMs)]);
    }
    return new Map(
      shared.map(({ entry, read, isFirst }): [Address, Kinds[K] | SnapshotError] => {
        const settled = (at ? undefined : this.#newerOutcome(kind, entry)) ?? read.settled ?? timedOut();
        const isTooOld =
          !(settled instanceof SnapshotError) && !settled.block.pending && this.#deps.heads.isTooOld(settled.block);
        const outcome = isTooOld ? new BlockTooOldError('the block became too old') : settled;
        const { address } = entry.pool;
        return [address, outcome instanceof SnapshotError ? this.#errorFor(outcome, isFirst, signal) : outcome];
      }),
    );
  }

  async #awaitHead(signal: AbortSignal | undefined): Promise<ReportedHead | SnapshotError> {
    const read = new CachedRead(this.#deps.heads.head());
    await waitFor([{ read }], signal, this.#deps.readTimeoutMs);
    const head = read.settled ?? timedOut();
    return head instanceof SnapshotError ? this.#errorFor(head, true, signal) : head;
  }

  #newest(at: HeadContext): HeadContext | SnapshotError {
    return this.#isCurrent(at) ? at : new SnapshotError('timed_out', 'the chain advanced');
  }

  #isCurrent({ block }: ReportedHead): boolean {
    const { current } = this.#deps.heads;
    return current !== undefined && stateOf(current.block) === stateOf(block);
  }

  /** Gives the read that a request needs, and starts it unless another request did. */
  #startRead<K extends QuoteKind>(kind: K, head: HeadContext, pool: ServedPool) {
    const before = this.#pricesSoFar(pool);
    const entry = this.#entryAt(head, pool);
    const known = entry.reads[kind];
    if (known && !known.mayRetry) {
      const source = known.settled ? 'cached' : 'joined';
      return { entry, read: known, isFirst: false, source };
    }
    return { entry, read: this.#start[kind](entry, head, before), isFirst: true, source: 'read' };
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
      const prices = known && !known.mayRetry ? known : this.#start.prices(entry, head, before);
      entry.reads.depths = new CachedRead(
        prices.outcome.then((read) => {
          if (read instanceof SnapshotError) throw read;
          return this.#deps.reader.depth(head, read);
        }),
      );
      return entry.reads.depths;
    },
  };

  #pricesSoFar({ address }: ServedPool): PriceSnapshot | undefined {
    const outcome = this.#entries.peek(address)?.reads.prices?.settled;
    return outcome instanceof SnapshotError ? undefined : outcome;
  }

  #entryAt(head: HeadContext, pool: ServedPool): Entry {
    const known = this.#entries.get(pool.address);
    if (known && (stateOf(known.head.block) === stateOf(head.block) || this.#isCurrent(known.head))) return known;
    const entry: Entry = { pool, head, reads: {} };
    this.#entries.set(pool.address, entry);
    return entry;
  }

  /** The outcome at a newer block, if it came first: a client must not get an older block than others already saw. */
  #newerOutcome<K extends QuoteKind>(kind: K, entry: Entry): Kinds[K] | undefined {
    const latest = this.#entries.get(entry.pool.address);
    if (!latest || latest.head.block.number <= entry.head.block.number) return undefined;
    const outcome = latest.reads[kind]?.settled;
    return outcome instanceof SnapshotError ? undefined : outcome;
  }

  /** Makes a timeout a failure for the request that started the read. It stays a timeout for requests that joined. */
  #errorFor(error: SnapshotError, isFirst: boolean, signal: AbortSignal | undefined): SnapshotError {
    if (error.code !== 'timed_out' || !isFirst || signal?.aborted || this.#deps.slowIsUnavailable) return error;
    return new SnapshotError('read_failed', error.message, { cause: error.cause });
  }
}

/** The kind of read that serves a request. Prices of a guarded pool need depth, which shows the sides guards close. */
const readKind = (pool: ServedPool, kind: QuoteKind): QuoteKind =>
  kind === 'prices' && isGuarded(pool) ? 'depths' : kind;

const planOf = perObject(guardPlan);
const isGuarded = (pool: ServedPool): boolean => planOf(pool).kind !== 'none';

/** Leaves out the depth. The same snapshot gives the same object, so that its serialised quote is reused. */
const withoutLevels = perObject(
  (snapshot: Snapshot): Snapshot => (snapshot.depth ? { ...snapshot, depth: null } : snapshot),
);

/** A read that several requests wait for. */
class CachedRead<T> {
  /** Never rejects. */
  readonly outcome: Promise<T | SnapshotError>;
  /** The outcome, once there is one. */
  settled: T | SnapshotError | undefined;

  constructor(value: Promise<T>) {
    this.outcome = value.catch(asSnapshotError).then((outcome) => {
      this.settled = outcome;
      return outcome;
    });
  }

  /** Whether a retry may succeed, because the chain was not read. A pool's own failure stays for the block. */
  get mayRetry(): boolean {
    return this.settled instanceof SnapshotError && this.settled.cause instanceof RpcFailure;
  }
}

/** Waits until all reads have outcomes, the signal aborts or the limit passes. The reads continue for others. */
async function waitFor(
  shared: readonly { readonly read: CachedRead<unknown> }[],
  signal: AbortSignal | undefined,
  limitMs?: number,
): Promise<void> {
  // Ends timer and listener with the wait: those of thousands of requests would stay for seconds.
  const done = new AbortController();
  const limits: Promise<unknown>[] = [];
  if (signal) limits.push(aborted(signal, done.signal));
  if (limitMs !== undefined) limits.push(sleep(limitMs, undefined, { signal: done.signal }));
  await Promise.race([Promise.all(shared.map(({ read }) => read.outcome)), ...limits]).finally(() => done.abort());
}

const aborted = (signal: AbortSignal, done: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done });
  });

const timedOut = () => {
  const cause = new RpcFailure('timeout', 'nodes did not answer in time');
  return new SnapshotError('timed_out', 'the read took too long', { cause });
};

/** The reason why a pool has no snapshot. */
function asSnapshotError(error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error;
  const isLate = error instanceof RpcFailure && ['timeout', 'aborted', 'exhausted'].includes(error.code);
  return new SnapshotError(isLate ? 'timed_out' : 'read_failed', 'the pool was not read', { cause: error });
}
