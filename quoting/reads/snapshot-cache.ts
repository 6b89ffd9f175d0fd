import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { isSameState } from '../../chain/pending-state.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { Heads } from '../heads/heads.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { BlockTooOldError, HeadReplacedError, isExhausted, SnapshotError } from '../snapshot-error.ts';
import type { SnapshotObserver } from '../snapshot-metrics.ts';
import type {
  ChainSnapshots,
  DepthSnapshot,
  HeadContext,
  Kinds,
  QuoteKind,
  ReadOptions,
  Snapshot,
  SnapshotMap,
} from '../types.ts';
import { CachedRead, timedOut, waitFor } from './cached-read.ts';
import {
  isGuarded,
  isOfOther,
  mayGiveMore,
  PoolEntries,
  readKind,
  type StartedRead,
  withoutLevels,
} from './pool-entries.ts';
import type { PoolReader } from './pool-reader.ts';

export interface SnapshotCacheDeps {
  readonly heads: Pick<Heads, 'current' | 'fresh' | 'head' | 'isBehind' | 'caughtUp' | 'isTooOld'>;
  readonly reader: Pick<PoolReader, 'prices' | 'depth'> & {
    /** Whether a pool is read already at a block where this cache has not read it. Default: no. */
    isRead?(kind: QuoteKind, head: HeadContext, pool: ServedPool): boolean;
  };
  /**
   * Where heads may be blocks that are being built, the snapshots at the committed head, which remain when these go.
   */
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

/** Whether a request started the read that it needs. */
const isOwn = ({ source }: Pick<StartedRead<QuoteKind>, 'source'>): boolean => source === 'read';

/** The snapshots of one chain, shared by all requests: one entry per pool, of the newest block it was requested at. */
export class SnapshotCache implements ChainSnapshots {
  readonly #deps: SnapshotCacheDeps;
  readonly #entries: PoolEntries;

  constructor(deps: SnapshotCacheDeps) {
    this.#deps = deps;
    this.#entries = new PoolEntries({ ...deps, isCurrent: (head) => this.#isCurrent(head) });
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
    const { heads } = this.#deps;
    const head = heads.isBehind ? undefined : heads.fresh();
    const entry = head && this.#entries.get(pool);
    if (!entry || !isSameState(entry.head.block, head.block)) return undefined;
    const outcome = entry.reads[readKind(pool, kind)]?.settled;
    if (!outcome || outcome instanceof SnapshotError || isOfOther(entry, outcome)) return undefined;
    return kind === 'prices' ? withoutLevels(outcome) : outcome;
  }

  isRead(pool: ServedPool, kind: QuoteKind): boolean {
    const { current } = this.#deps.heads;
    const entry = this.#entries.peek(pool);
    const read = entry && this.#isCurrent(entry.head) ? entry.reads[readKind(pool, kind)] : undefined;
    if (entry && read) return !mayGiveMore(entry, read);
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
    // A request that joined a scheduled read reads by itself when that read had no budget, or its head was replaced.
    const abandoned = pools.filter(({ address }) => isAbandoned(outcomes.get(address)));
    if (abandoned.length > 0) for (const each of await this.read(kind, abandoned, again)) outcomes.set(...each);
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
    if (!at) await this.#deps.heads.caughtUp();
    const head = at
      ? this.#isCurrent(at)
        ? at
        : new HeadReplacedError()
      : (this.#deps.heads.fresh() ?? (await this.#awaitHead(signal)));
    if (head instanceof SnapshotError) return new Map(pools.map(({ address }) => [address, head]));
    const shared = pools.map((pool) => this.#entries.read(kind, head, pool));
    for (const source of ['cached', 'joined', 'read'] as const) {
      const count = shared.filter((each) => each.source === source).length;
      if (count > 0) this.#deps.observer.lookup?.(source, count);
    }
    const pending = shared.filter(({ read }) => read.settled === undefined);
    if (pending.length > 0) {
      const [own, others] = [pending.filter(isOwn), pending.filter((each) => !isOwn(each))];
      await Promise.all([waitFor(own, signal), waitFor(others, signal, this.#deps.waitTimeoutMs)]);
    }
    return new Map(
      shared.map(({ entry, read, source }): [Address, Kinds[K] | SnapshotError] => {
        const settled = (at ? undefined : this.#entries.newerOutcome(kind, entry)) ?? read.settled ?? timedOut();
        const isTooOld =
          !(settled instanceof SnapshotError) && !settled.block.pending && this.#deps.heads.isTooOld(settled.block);
        const outcome = isTooOld ? new BlockTooOldError('the block became too old') : settled;
        const { address } = entry.pool;
        return [
          address,
          outcome instanceof SnapshotError ? this.#errorFor(outcome, source === 'read', signal) : outcome,
        ];
      }),
    );
  }

  async #awaitHead(signal: AbortSignal | undefined): Promise<ReportedHead | SnapshotError> {
    const read = new CachedRead(this.#deps.heads.head());
    await withTimeLimit(this.#deps.readTimeoutMs, (limit) =>
      waitFor([{ read }], signal ? AbortSignal.any([signal, limit]) : limit),
    );
    const head = read.settled ?? timedOut();
    return head instanceof SnapshotError ? this.#errorFor(head, true, signal) : head;
  }

  #isCurrent({ block }: ReportedHead): boolean {
    const { current } = this.#deps.heads;
    return current !== undefined && isSameState(current.block, block);
  }

  /**
   * Makes a timeout of nodes a failure for the request that started the read. It stays a timeout for requests that
   * joined, and where no node was slow: the chain advanced.
   */
  #errorFor(error: SnapshotError, isFirst: boolean, signal: AbortSignal | undefined): SnapshotError {
    const isOfNodes = error.code === 'timed_out' && error.cause !== undefined;
    if (!isOfNodes || !isFirst || signal?.aborted || this.#deps.slowIsUnavailable) return error;
    return new SnapshotError('read_failed', error.message, { cause: error.cause });
  }
}

const isAbandoned = (outcome: unknown): boolean => isExhausted(outcome) || outcome instanceof HeadReplacedError;
