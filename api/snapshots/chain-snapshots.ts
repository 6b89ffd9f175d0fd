import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import type { SnapshotLookup } from '../observability/snapshot-metrics.ts';
import type { ChainReads } from './chain-reads.ts';
import type { CurveSnapshot } from './curve-snapshot.ts';
import type { ServedPool } from './pool-directory.ts';
import { SharedRead, waitForAll } from './shared-read.ts';
import { type DepthSnapshot, type ReadOptions, type Snapshot, SnapshotError, type SnapshotMap } from './types.ts';

export interface ChainSnapshotsOptions {
  /** Longest wait for a read that another request started. */
  readonly waitTimeoutMs: number;
  /** Bound of the cache, in bins. */
  readonly cacheBins: number;
  /** Whether a read that takes too long is a temporary want (503), as on Ethereum, rather than a failure (500). */
  readonly slowIsUnavailable: boolean;
  /** Told how each snapshot that was asked for was had. */
  readonly countLookup: (lookup: SnapshotLookup) => void;
}

/** The reads of one pool at one block. The guard layer is read when someone wants depth. */
interface Entry {
  readonly pool: ServedPool;
  readonly head: ReportedHead;
  curve: SharedRead<CurveSnapshot> | undefined;
  depth: SharedRead<DepthSnapshot> | undefined;
}

/** One of the two things that an entry is asked for. */
interface Layer<T, S extends Snapshot> {
  of(entry: Entry): SharedRead<T> | undefined;
  start(entry: Entry): SharedRead<T>;
  view(read: T): S;
}

/** A read that one request needs: started by it, or by another. */
interface Asked<T> {
  readonly entry: Entry;
  readonly read: SharedRead<T>;
  readonly isFirst: boolean;
}

/** The snapshots of one chain: an entry per pool, of the newest block that it was asked for at, shared by all requests. */
export class ChainSnapshots {
  readonly #reads: ChainReads;
  readonly #options: ChainSnapshotsOptions;
  readonly #entries: LRUCache<Address, Entry>;

  constructor(reads: ChainReads, options: ChainSnapshotsOptions) {
    this.#reads = reads;
    this.#options = options;
    this.#entries = new LRUCache({
      maxSize: options.cacheBins,
      sizeCalculation: ({ pool: { immutables } }) => immutables.highestBin - immutables.lowestBin + 1,
    });
  }

  /** See `SnapshotService.head`. */
  async head(): Promise<BlockRef> {
    return (await this.#reads.clock.head()).block;
  }

  /** See `SnapshotService.cached`. */
  cached(pool: ServedPool, kind: 'prices' | 'depths'): Snapshot | undefined {
    const head = this.#reads.clock.fresh();
    const entry = head && this.#entries.get(pool.address);
    if (entry?.head.block.hash !== head?.block.hash) return undefined;
    const outcome = kind === 'prices' ? entry?.curve?.settled : entry?.depth?.settled;
    if (!outcome || outcome instanceof SnapshotError) return undefined;
    this.#options.countLookup('cached');
    return 'snapshot' in outcome ? outcome.snapshot : outcome;
  }

  /** See `SnapshotService.prices`. */
  prices(pools: readonly ServedPool[], options: ReadOptions = {}): Promise<SnapshotMap> {
    return this.#collect(this.#priceLayer, pools, options);
  }

  /** See `SnapshotService.depths`. */
  depths(pools: readonly ServedPool[], options: ReadOptions = {}): Promise<SnapshotMap<DepthSnapshot>> {
    return this.#collect(this.#depthLayer, pools, options);
  }

  readonly #priceLayer: Layer<CurveSnapshot, Snapshot> = {
    of: (entry) => entry.curve,
    start: (entry) => this.#startCurve(entry),
    view: ({ snapshot }) => snapshot,
  };

  readonly #depthLayer: Layer<DepthSnapshot, DepthSnapshot> = {
    of: (entry) => entry.depth,
    start: (entry) => {
      const curve = entry.curve && !entry.curve.mayRetry ? entry.curve : this.#startCurve(entry);
      entry.depth = new SharedRead(this.#reads.depth(entry.head, curve));
      return entry.depth;
    },
    view: (snapshot) => snapshot,
  };

  #startCurve(entry: Entry): SharedRead<CurveSnapshot> {
    entry.curve = new SharedRead(this.#reads.curve(entry.head, entry.pool));
    return entry.curve;
  }

  async #collect<T, S extends Snapshot>(
    layer: Layer<T, S>,
    pools: readonly ServedPool[],
    { signal }: ReadOptions,
  ): Promise<SnapshotMap<S>> {
    const head = this.#reads.clock.fresh() ?? (await this.#awaitHead(signal));
    if (head instanceof SnapshotError) return new Map(pools.map(({ address }) => [address, head]));
    const asked = pools.map((pool) => this.#ask(layer, head, pool));
    const pending = asked.filter(({ read }) => read.settled === undefined);
    if (pending.length > 0) {
      const [own, others] = [true, false].map((isOwn) =>
        pending.filter(({ isFirst }) => isFirst === isOwn).map(({ read }) => read),
      );
      await Promise.all([waitForAll(own ?? [], signal), waitForAll(others ?? [], this.#patience(signal))]);
    }
    return new Map(asked.map((one) => [one.entry.pool.address, this.#outcome(layer, one, signal)]));
  }

  async #awaitHead(signal: AbortSignal | undefined): Promise<ReportedHead | SnapshotError> {
    const read = new SharedRead(this.#reads.clock.head());
    await waitForAll([read], anyOf(signal, this.#reads.deadline()));
    const head = read.settled ?? waitedInVain();
    return head instanceof SnapshotError ? this.#judge(head, true, signal) : head;
  }

  #ask<T, S extends Snapshot>(layer: Layer<T, S>, head: ReportedHead, pool: ServedPool): Asked<T> {
    const entry = this.#entryAt(head, pool);
    const known = layer.of(entry);
    if (!known || known.mayRetry) {
      this.#options.countLookup('read');
      return { entry, read: layer.start(entry), isFirst: true };
    }
    this.#options.countLookup(known.settled ? 'cached' : 'joined');
    return { entry, read: known, isFirst: false };
  }

  #outcome<T, S extends Snapshot>(
    layer: Layer<T, S>,
    { entry, read, isFirst }: Asked<T>,
    signal: AbortSignal | undefined,
  ): S | SnapshotError {
    const newer = this.#newerOutcome(layer, entry);
    if (newer !== undefined) return layer.view(newer);
    const outcome = read.settled ?? waitedInVain();
    return outcome instanceof SnapshotError ? this.#judge(outcome, isFirst, signal) : layer.view(outcome);
  }

  #entryAt(head: ReportedHead, pool: ServedPool): Entry {
    const known = this.#entries.get(pool.address);
    if (known && (known.head.block.hash === head.block.hash || known.head === this.#reads.clock.current)) return known;
    const entry: Entry = { pool, head, curve: undefined, depth: undefined };
    this.#entries.set(pool.address, entry);
    return entry;
  }

  /** A read that took longer than the next block's must not show its client an older block than others saw meanwhile. */
  #newerOutcome<T, S extends Snapshot>(layer: Layer<T, S>, entry: Entry): T | undefined {
    const latest = this.#entries.get(entry.pool.address);
    if (!latest || latest.head.block.number <= entry.head.block.number) return undefined;
    const outcome = layer.of(latest)?.settled;
    return outcome instanceof SnapshotError ? undefined : outcome;
  }

  #patience(signal: AbortSignal | undefined): AbortSignal {
    return anyOf(signal, AbortSignal.timeout(this.#options.waitTimeoutMs));
  }

  /** Whoever started a read that came too late has a failed read; who waited for it, waited in vain. */
  #judge(error: SnapshotError, isFirst: boolean, signal: AbortSignal | undefined): SnapshotError {
    if (error.code !== 'timed_out' || !isFirst || signal?.aborted || this.#options.slowIsUnavailable) return error;
    return new SnapshotError('read_failed', error.message, { cause: error.cause });
  }
}

const waitedInVain = () => new SnapshotError('timed_out', 'waited in vain for a read of the pool');

function anyOf(signal: AbortSignal | undefined, limit: AbortSignal): AbortSignal {
  return signal ? AbortSignal.any([signal, limit]) : limit;
}
