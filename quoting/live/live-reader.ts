import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PoolRead } from '../calls/decode-pool.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { PoolReader } from '../reads/pool-reader.ts';
import type { SnapshotCache } from '../reads/snapshot-cache.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { DepthSnapshot, HeadContext, PriceSnapshot, QuoteKind, Snapshot } from '../types.ts';
import type { AccessLists } from './access-lists.ts';
import { committedReads, type ReadCommitted } from './committed-reads.ts';
import { tryLive } from './live-calls.ts';
import type { LiveFeed } from './live-feed.ts';
import type { LiveHeads } from './live-heads.ts';
import { isContradicted, isReusable, type LiveRead } from './live-read.ts';

export interface LiveReaderDeps {
  readonly reader: Pick<PoolReader, 'prices' | 'depth'>;
  /** The snapshots at the committed head. */
  readonly committed: Pick<SnapshotCache, 'read' | 'isRead' | 'cached'>;
  readonly heads: Pick<LiveHeads, 'suspend' | 'sourceAge'>;
  readonly accessLists: AccessLists;
  readonly feed: Pick<LiveFeed, 'holders'>;
  /** How long a read is used again while no override that it depends on changes, milliseconds. */
  readonly reuseMs: number;
  readonly now: Clock;
}

/**
 * Reads pools in the block that is being built. A pool without a live price there, or that cannot be read there, is
 * read at the committed head, as its snapshot says.
 *
 * 1. A pool whose price reads no override is not read there.
 * 2. While no override changes that its price reads, a pool is read there once in `reuseMs`.
 * 3. Where nodes did not answer, the snapshot is provisional.
 */
export class LiveReader implements Pick<PoolReader, 'prices' | 'depth'> {
  readonly #deps: LiveReaderDeps;
  readonly #committed: ReadCommitted;
  /** The last live read of each pool on the newest committed block that was read on. */
  #reads: { readonly hash: BlockRef['hash'] | null; readonly of: Map<Address, LiveRead> } = {
    hash: null,
    of: new Map(),
  };

  constructor(deps: LiveReaderDeps) {
    this.#deps = deps;
    this.#committed = committedReads(deps.committed);
  }

  /** Throws as the reader does, where the budget of a scheduled read is exhausted. */
  async prices(head: HeadContext, read: PoolRead): Promise<PriceSnapshot> {
    const { block } = head;
    if (!this.#mayBeLive(block, read.pool)) return this.#committed('prices', head, read.pool);
    const live = await (this.#lastRead(block, read.pool) ?? this.#start(head, read)).prices;
    return live ? this.#atState(live, block) : this.#committed('prices', head, read.pool, live === undefined);
  }

  async depth(head: HeadContext, prices: PriceSnapshot): Promise<DepthSnapshot> {
    const { block, pool, isProvisional } = prices;
    if (!block.pending) return this.#committed('depths', head, pool, isProvisional);
    const last = this.#lastRead(block, pool);
    const isSame = last?.outcome?.fingerprint === prices.fingerprint;
    const live = await (last && isSame ? this.#sharedDepth(last, head, prices) : this.#ownDepth(head, prices));
    return live ? this.#atState(live, block) : this.#committed('depths', head, pool, live === undefined);
  }

  /** Whether a pool is read already, or being read, so that to read it at this block costs no call. */
  isRead(kind: QuoteKind, { block }: HeadContext, pool: ServedPool): boolean {
    const last = this.#mayBeLive(block, pool) ? this.#lastRead(block, pool) : null;
    if (last === undefined) return false;
    if (!last || last.outcome === null) return this.#deps.committed.isRead(pool, kind);
    return kind === 'prices' || last.depth !== undefined;
  }

  #mayBeLive(block: BlockRef, pool: ServedPool): boolean {
    return block.pending !== undefined && !this.#deps.accessLists.isUntouched(pool, block);
  }

  #readsOn(hash: BlockRef['hash']): Map<Address, LiveRead> {
    if (this.#reads.hash !== hash) this.#reads = { hash, of: new Map() };
    return this.#reads.of;
  }

  /** The last read of a pool, if another one at this block would give the same. */
  #lastRead(block: BlockRef, pool: ServedPool): LiveRead | undefined {
    const { accessLists, reuseMs, now } = this.#deps;
    const { pending, hash } = block;
    const last = this.#reads.hash === hash ? this.#reads.of.get(pool.address) : undefined;
    if (!pending || !last) return undefined;
    const reuse = { touching: () => accessLists.touching(pool, block), reuseMs, now: now() };
    return isReusable(last, pool, pending, reuse) ? last : undefined;
  }

  #start(head: HeadContext, read: PoolRead): LiveRead {
    const { accessLists, reader, now } = this.#deps;
    const { pool } = read;
    const { hash, pending } = head.block;
    if (!pending) throw new Error('a committed block has no live price');
    const reads = this.#readsOn(hash);
    const before = reads.get(pool.address);
    const forget = () => {
      if (reads.get(pool.address) === started) reads.delete(pool.address);
    };
    const prices = this.#unlessFailed(head, reader.prices(head, read)).then(
      (priced) => {
        // What nodes did not give is read again at the next request.
        if (!priced) forget();
        else this.#check(started, before, head.block, priced);
        const live = priced?.hasLivePrice ? { ...priced, ...this.#ofSources(pool, priced.block) } : null;
        started.outcome = live;
        return priced === undefined ? undefined : live;
      },
      (error) => {
        forget();
        throw error;
      },
    );
    const touching = accessLists.touching(pool, head.block);
    const started: LiveRead = { pool, pending, touching, readAt: now(), prices };
    reads.set(pool.address, started);
    return started;
  }

  /** Compares what was read with the access list of the pool. */
  #check(read: LiveRead, before: LiveRead | undefined, block: BlockRef, priced: PriceSnapshot): void {
    const { accessLists, committed } = this.#deps;
    const { pool } = read;
    if (isContradicted(read, before, priced)) accessLists.distrust(pool, block);
    else accessLists.confirm(pool);
    const atHead = committed.cached(pool, 'prices');
    const isAtHead = atHead?.block.hash === block.hash;
    const hasPrice = isAtHead && atHead.status === 'healthy';
    // A read without a price ends early. Where overrides alone give a price, the list is of a read with them.
    if (hasPrice || (isAtHead && !priced.hasLivePrice)) void accessLists.learn(pool, atHead.block, hasPrice);
    else if (priced.hasLivePrice) void accessLists.learn(pool, block, true);
  }

  /** The same snapshot with all overrides of a block, of which it depends on none that changed. */
  #atState<S extends PriceSnapshot | DepthSnapshot>(snapshot: S, block: BlockRef): S {
    if (snapshot.block.pending?.digest === block.pending?.digest) return snapshot;
    return { ...snapshot, block, ...this.#ofSources(snapshot.pool, block) };
  }

  #ofSources(pool: ServedPool, block: BlockRef): Pick<Snapshot, 'sourceAgeMs' | 'sources'> {
    const { heads, feed, accessLists } = this.#deps;
    const { pending } = block;
    if (!pending) return {};
    return { ...heads.sourceAge(block), sources: feed.holders(pending, accessLists.words(pool, block)) };
  }

  #sharedDepth(last: LiveRead, head: HeadContext, prices: PriceSnapshot): NonNullable<LiveRead['depth']> {
    if (last.depth) return last.depth;
    const depth = this.#ownDepth(head, prices);
    last.depth = depth;
    const forget = () => {
      if (last.depth === depth) last.depth = undefined;
    };
    depth.then((read) => read || forget(), forget);
    return depth;
  }

  #ownDepth(head: HeadContext, prices: PriceSnapshot): NonNullable<LiveRead['depth']> {
    return this.#unlessFailed(head, this.#deps.reader.depth(head, prices));
  }

  /**
   * Null for a pool that cannot be read in the block being built, undefined where nodes did not answer. Throws where
   * the budget of a scheduled read is exhausted.
   */
  #unlessFailed<S>(head: HeadContext, read: Promise<S>): Promise<S | null | undefined> {
    const unlessOwn = async () => {
      try {
        return await read;
      } catch (error) {
        if (!(error instanceof SnapshotError)) throw error;
        // Probes make failures of nodes those of their pool.
        if (error.cause instanceof RpcFailure && !error.cause.isAnswer) throw error.cause;
        return null;
      }
    };
    return tryLive(this.#deps.heads, head, unlessOwn, (isUnreadable) => (isUnreadable ? null : undefined));
  }
}
