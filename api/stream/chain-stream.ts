import type { Address } from 'viem';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { PoolDirectory, PoolTable, ServedPool } from '../snapshots/pool-directory.ts';
import { type ChainSnapshots, SnapshotError } from '../snapshots/types.ts';
import type { WarmResult } from '../warming/block-warmer.ts';
import type { ChainWarmer } from '../warming/pool-warmers.ts';
import type { QuoteKind } from '../warming/requested-pools.ts';
import { Board } from './board.ts';
import { History } from './history.ts';
import { allOf, setOf } from './pool-set.ts';
import { Reader, type ReaderSource } from './reader.ts';
import type {
  ByeReason,
  ChainStream,
  RemovalReason,
  StreamClient,
  StreamObserver,
  StreamTransport,
  Subscription,
} from './types.ts';

export interface ChainStreamDeps {
  readonly chainId: number;
  /** Random per process. */
  readonly epoch: string;
  readonly config: StreamConfig;
  readonly warmer: ChainWarmer;
  readonly snapshots: Pick<ChainSnapshots, 'head'>;
  readonly directory: PoolDirectory;
  /** Which of these pools an operator delisted; must not throw. */
  readonly delisted: (chainId: number, pools: readonly Address[]) => Promise<ReadonlySet<Address>>;
  readonly observer?: StreamObserver;
  readonly now?: () => number;
}

/** The stream of one chain: takes what each run of the warmer brings, and lets each reader tell what concerns it. */
export class ChainStreamHub implements ChainStream, ReaderSource {
  readonly chainId: number;
  readonly epoch: string;
  readonly config: StreamConfig;
  readonly boards = { prices: new Board(), depths: new Board() };
  readonly #deps: ChainStreamDeps;
  readonly #now: () => number;
  readonly #history: History;
  readonly #readers = new Set<Reader>();
  /** Who is to be told when a pool changes. */
  readonly #holders: Record<QuoteKind, Map<Address, Set<Reader>>> = { prices: new Map(), depths: new Map() };
  /** Removed in this turn. */
  readonly #gone: Address[] = [];
  /** Removed, and not yet in the history. */
  #untold = 0;
  #table: PoolTable | undefined;
  #seq = 0;

  constructor(deps: ChainStreamDeps) {
    this.chainId = deps.chainId;
    this.epoch = deps.epoch;
    this.config = deps.config;
    this.#history = new History(deps.config.historyBlocks);
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    deps.warmer.warmer.onResult((result) => this.#take(result));
    deps.warmer.warmer.onSleep(() => {
      for (const board of Object.values(this.boards)) board.clear();
    });
  }

  /** Counts what the stream had to tell. */
  get seq(): number {
    return this.#seq;
  }

  /** Connections that are open. */
  get readerCount(): number {
    return this.#readers.size;
  }

  async open(transport: StreamTransport, client: StreamClient): Promise<Reader> {
    const table = await this.#deps.directory.table();
    const head = await this.#deps.snapshots.head().catch((cause) => {
      throw new SnapshotError('timed_out', 'no node tells the head', { cause });
    });
    if (!this.#table) table.onChange((pool, isServed) => this.#takeListing(pool, isServed));
    this.#table = table;
    const reader = new Reader(transport, client, this, head);
    this.#readers.add(reader);
    return reader;
  }

  /** To be called about once a second: heartbeats, and the end of connections that are not read. */
  tick(): void {
    for (const reader of this.#readers) reader.tick();
  }

  /** Says `bye` to all. */
  close(reason: ByeReason, retryMs: () => number): void {
    for (const reader of this.#readers) reader.close(reason, retryMs());
  }

  now(): number {
    return this.#now();
  }

  servedPools(): readonly ServedPool[] {
    return this.#table?.ofChain(this.chainId) ?? [];
  }

  hold(reader: Reader, pool: Address, kind: QuoteKind): () => void {
    const holders = this.#holders[kind];
    const ofPool = holders.get(pool) ?? new Set();
    holders.set(pool, ofPool.add(reader));
    const release = this.#deps.warmer.requested.pin(pool, kind, reader.hasKey);
    return () => {
      release();
      ofPool.delete(reader);
      if (ofPool.size === 0) holders.delete(pool);
    };
  }

  missed(after: string, kind: QuoteKind, { pools, unknown = [] }: Pick<Subscription, 'pools' | 'unknown'>) {
    const [epoch, seq, poolSet] = after.split('-');
    if (epoch !== this.epoch || !/^\d+$/.test(seq ?? '') || this.#untold > 0) return null;
    const missed = this.#history.since(Number(seq));
    const served = (pools === 'all' ? this.servedPools() : pools).map(({ address }) => address);
    if (!missed || !served.every((pool) => this.boards[kind].get(pool))) return null;
    const before = [...served, ...unknown.filter((pool) => missed.removed.has(pool))];
    return poolSet === (pools === 'all' ? allOf(kind) : setOf(before, kind)) ? missed : null;
  }

  onResume(isResumed: boolean): void {
    const { observer } = this.#deps;
    if (isResumed) observer?.resumed(this.chainId);
    else observer?.gap(this.chainId);
  }

  onCut(): void {
    this.#deps.observer?.cut(this.chainId);
  }

  onGone(reader: Reader): void {
    this.#readers.delete(reader);
  }

  #take(result: WarmResult): void {
    const { kind, block, replacedFrom } = result;
    const board = this.boards[kind];
    const isNewBlock = board.block?.hash !== block.hash;
    if (isNewBlock || result.outcomes.size > 0 || replacedFrom !== null) {
      this.#seq += 1;
      const changed = board.take(result, this.#seq);
      this.#history.add(this.#seq, block, replacedFrom);
      if (replacedFrom !== null) for (const reader of this.#readers) reader.reorg(replacedFrom);
      for (const pool of changed) for (const reader of this.#holders[kind].get(pool) ?? []) reader.touch(pool);
    }
    for (const reader of this.#readers) if (reader.hasDepth === (kind === 'depths')) reader.flush(isNewBlock);
    const { seenAt, readyAt } = result;
    this.#deps.observer?.told(this.chainId, readyAt - seenAt, this.#now() - seenAt);
  }

  #takeListing(pool: ServedPool, isServed: boolean): void {
    if (pool.chainId !== this.chainId) return;
    if (isServed) {
      for (const reader of this.#readers) reader.join(pool.address);
      return;
    }
    if (this.#gone.length === 0) setImmediate(() => this.#tellRemoved(this.#gone.splice(0)));
    this.#gone.push(pool.address);
    this.#untold += 1;
  }

  async #tellRemoved(pools: readonly Address[]): Promise<void> {
    const delisted = await this.#deps.delisted(this.chainId, pools);
    // One may have come back meanwhile.
    const gone = pools.filter((pool) => !this.#table?.find(this.chainId, pool));
    const removed = new Map(
      gone.map((pool): [Address, RemovalReason] => [pool, delisted.has(pool) ? 'delisted' : 'not_served']),
    );
    this.#seq += 1;
    const { block } = this.boards.prices;
    if (block) this.#history.add(this.#seq, block, null, removed);
    this.#untold -= pools.length;
    for (const reader of this.#readers) for (const [pool, reason] of removed) reader.remove(pool, reason);
  }
}
