import { Registry } from 'prom-client';
import { type Address, type Hex, toHex } from 'viem';
import { ChainQuotes } from '../../api/latest/chain-quotes.ts';
import { ChainStream } from '../../api/stream/chain-stream.ts';
import { streamMetrics } from '../../api/stream/metrics.ts';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { HeadTracker } from '../../quoting/heads/head-tracker.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { type PoolDirectory, PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { SnapshotCache, type SnapshotCacheDeps } from '../../quoting/reads/snapshot-cache.ts';
import { BlockWarmer } from '../../quoting/requested/block-warmer.ts';
import { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { WarmSchedule } from '../../quoting/requested/warm-schedule.ts';
import { pricedAt, withOneLevel } from '../../quoting/snapshot.fixture.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { HeadContext, PriceSnapshot } from '../../quoting/types.ts';
import { createLogger } from '../../runtime/logger.ts';

const CHAIN = 7;
/** Where words of sources have the price of a pool, at the pool's address. */
export const PRICE_SLOT = toHex(0, { size: 32 });
const poolOf = (number: number): ServedPool => flatPool(100 + number, { chainId: CHAIN });

interface Block {
  readonly ref: BlockHeader;
  /** The price of each pool. */
  readonly prices: readonly bigint[];
}

/** What serves quotes of one basis, as `openQuotes` takes it. */
interface Served {
  readonly heads: Heads;
  readonly requested: RequestedPools;
  readonly reader: SnapshotCacheDeps['reader'];
  readonly committed?: SnapshotCache;
  readonly warmBudget: { readonly callsPerMinute: number };
  readonly directory: PoolDirectory;
  readonly keepMs?: number;
}

/** A chain of pools whose prices are whole numbers, with forks. Reads take some turns of the event loop. */
export class SimulatedChain {
  readonly pools: readonly ServedPool[];
  readonly table: PoolTable;
  /** Pools that nodes fail to read. */
  readonly failing = new Set<Address>();
  /** Pools that nodes do not give. */
  readonly missing = new Set<Address>();
  isDown = false;
  /** Whether quotes say on which basis they are. */
  hasSource = false;
  now = 0;
  #blocks: Block[] = [];
  readonly #byHash = new Map<string, Block>();
  #made = 0;
  #reads = 0;

  constructor(count: number) {
    this.pools = Array.from({ length: count }, (_, number) => poolOf(number));
    this.table = new PoolTable(this.pools);
    this.#append(Array.from({ length: count }, () => 1n));
  }

  get head(): ReportedHead {
    return { block: this.#top.ref, endpoint: undefined as never };
  }

  /** @param changed indexes of the pools whose prices move */
  mine(changed: readonly number[]): void {
    this.now += 1_000;
    // One of two prices: a pool may come back to what it was.
    this.#append(this.#top.prices.map((price, index) => (changed.includes(index) ? 3n - price : price)));
  }

  /** Takes blocks back; this many others take their place. */
  reorganise(depth: number, others: number, changed: readonly number[]): void {
    this.#blocks = this.#blocks.slice(0, Math.max(1, this.#blocks.length - depth));
    for (let count = 0; count < others; count++) this.mine(changed);
  }

  /** The price of a pool at a block, as text. */
  priceAt(hash: string, pool: string): string | undefined {
    return this.#byHash.get(hash)?.prices[this.#indexOf(pool)]?.toString();
  }

  /**
   * The lowest height at which the branch of one block has another block than that of the next;
   * null when it goes on there.
   */
  replacedFrom(one: string, next: string): bigint | null {
    const path = (hash: string | undefined): BlockHeader[] => {
      const ref = this.#byHash.get(hash ?? '')?.ref;
      return ref ? [ref, ...path(ref.parents[0])] : [];
    };
    const kept = new Set(path(next).map(({ hash }) => hash));
    return path(one).findLast(({ hash }) => !kept.has(hash))?.number ?? null;
  }

  /** What an API process knows and does of the chain; with only the heads that it is pushed or polls for. */
  startProcess(
    { keepMs = 0, ...warmBudget }: { callsPerMinute: number; keepMs?: number },
    directory: PoolDirectory = { table: async () => this.table },
  ) {
    const source = {
      head: () => this.#answer(this.head),
      otherHeads: () => this.#answer([]),
      header: (hash: Hex) => this.#answer((this.#byHash.get(hash) as Block).ref),
    };
    const now = () => this.now;
    const heads = new HeadTracker<ReportedHead>(source, {
      blockTimeMs: 1_000,
      minRefreshMs: 1,
      now,
      wallClock: () => 0,
    });
    const requested = new RequestedPools({ warmMs: 5_000, now });
    const reader = {
      prices: (head: HeadContext, { pool }: { readonly pool: ServedPool }) => this.#price(head, pool),
      depth: async (_head: ReportedHead, prices: PriceSnapshot) => withOneLevel(prices),
    };
    return { heads, reader, ...this.serve({ heads, reader, requested, warmBudget, directory, keepMs }) };
  }

  /** What a process serves of one basis. */
  serve({ heads, requested, reader, committed, warmBudget, directory, keepMs = 0 }: Served) {
    const now = () => this.now;
    const snapshots = new SnapshotCache({
      heads,
      committed,
      waitTimeoutMs: 5_000,
      readTimeoutMs: 5_000,
      cacheBins: 10_000,
      slowIsUnavailable: true,
      reader,
      observer: {},
    });
    const isFunded = (pool: ServedPool) => this.#indexOf(pool.address) % 2 === 0;
    const isReadForKeys = (pool: ServedPool) => this.#indexOf(pool.address) === 1;
    const schedule = new WarmSchedule({ ...warmBudget, isFunded, now });
    const ofChain = { chainId: CHAIN, heads, requested };
    const warmer = new BlockWarmer({
      ...ofChain,
      snapshots,
      directory,
      schedule,
      isReadForKeys,
      keepMs,
      now,
      logger: createLogger('test', 'silent'),
    });
    const quotes = new ChainQuotes({ ...ofChain, warmer }, directory);
    const stream = new ChainStream({
      quotes,
      metrics: streamMetrics(new Registry(), []),
      sockets: { countTermination: () => undefined },
      now,
    });
    return { snapshots, requested, warmer, schedule, quotes, stream, estimates: { isReadForKeys } };
  }

  get #top(): Block {
    return this.#blocks.at(-1) as Block;
  }

  #append(prices: readonly bigint[]): void {
    this.#made += 1;
    const number = BigInt(this.#blocks.length + 10);
    const parents = [this.#blocks.at(-1)?.ref.hash ?? toHex(0, { size: 32 })];
    const ref = { number, hash: toHex(this.#made, { size: 32 }), timestamp: BigInt(this.now), parents };
    const block = { ref, prices };
    this.#blocks.push(block);
    this.#byHash.set(ref.hash, block);
  }

  async #answer<T>(value: T): Promise<T> {
    if (this.isDown) throw new Error('no node answers');
    return value;
  }

  /** Takes two calls, as if no pools shared them. */
  async #price({ block, reserve }: HeadContext, pool: ServedPool): Promise<PriceSnapshot> {
    this.#reads += 1;
    if (reserve?.() === false || reserve?.() === false) throw new RpcFailure('exhausted', 'no calls');
    for (let turns = this.#reads % 3; turns > 0; turns--) await new Promise(setImmediate);
    const live = block.pending?.overrides.get(pool.address)?.get(PRICE_SLOT);
    const price = BigInt(live ?? this.#byHash.get(block.hash)?.prices[this.#indexOf(pool.address)] ?? 0n);
    if (this.missing.has(pool.address)) throw new RpcFailure('timeout', 'the node gives nothing');
    if (this.failing.has(pool.address) || this.isDown) throw new SnapshotError('read_failed', 'the node fails');
    return pricedAt(price, pool, block, {
      readAt: this.#reads,
      hasSource: this.hasSource,
      hasLivePrice: live !== undefined,
    });
  }

  #indexOf = (pool: string): number => Number(BigInt(pool)) - 100;
}
