import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { badRequest, unavailable } from '../errors.ts';
import type { PoolDirectory, PoolTable, RemovalReason, ServedPool } from '../snapshots/pool-directory.ts';
import type { ChainSnapshots } from '../snapshots/types.ts';
import type { WarmResult } from '../warming/block-warmer.ts';
import type { ChainWarmer } from '../warming/pool-warmers.ts';
import type { QuoteKind } from '../warming/requested-pools.ts';
import { LatestQuotes } from './latest-quotes.ts';
import { Subscriber, type SubscriberSource } from './subscriber.ts';
import type { ByeReason, ChainObserver, StreamTransport } from './types.ts';

/** Most listed pools of a chain that a connection with a key may have without naming them. */
const MAX_WILDCARD_POOLS = 2_000;

export interface ChainStreamDeps {
  readonly chainId: number;
  readonly warmer: ChainWarmer;
  readonly snapshots: Pick<ChainSnapshots, 'clock'>;
  readonly directory: PoolDirectory;
  readonly observer: ChainObserver;
  readonly now?: () => number;
}

/** The stream of one chain: takes what is read at each block, and lets each subscriber send what concerns it. */
export class ChainStream implements SubscriberSource {
  readonly chainId: number;
  readonly observer: ChainObserver;
  readonly latest = { prices: new LatestQuotes(), depths: new LatestQuotes() };
  readonly #deps: ChainStreamDeps;
  readonly #subscribers = new Set<Subscriber>();
  /** Who is affected when a pool changes. */
  readonly #holders: Record<QuoteKind, Map<Address, Set<Subscriber>>> = { prices: new Map(), depths: new Map() };
  #table: PoolTable | undefined;
  #head: BlockRef | undefined;

  constructor(deps: ChainStreamDeps) {
    this.chainId = deps.chainId;
    this.observer = deps.observer;
    this.#deps = deps;
    deps.warmer.warmer.onResult((result) => {
      if (result) this.#take(result);
      else for (const latest of Object.values(this.latest)) latest.clear();
    });
  }

  /** Connections that are open. */
  get subscriberCount(): number {
    return this.#subscribers.size;
  }

  /**
   * To be awaited before a connection is opened.
   *
   * @throws ApiError 503 when the pools or the head are not known
   */
  async ready(): Promise<void> {
    const table = await this.#deps.directory.table();
    const { block } = await this.#deps.snapshots.clock.head().catch((cause) => {
      throw unavailable(cause);
    });
    this.#head = block;
    if (!this.#table) table.onChange((pool, removal) => this.#takeListing(pool, removal));
    this.#table = table;
  }

  /** A new connection, without subscriptions yet. */
  open(transport: StreamTransport, hasKey: boolean): Subscriber {
    const subscriber = new Subscriber(transport, hasKey, this);
    this.#subscribers.add(subscriber);
    return subscriber;
  }

  /**
   * What a connection subscribes to that names no pools.
   *
   * @throws ApiError 400 when the chain lists more than may go unnamed
   */
  allPools(): 'all' {
    const count = this.servedPools().length;
    if (count <= MAX_WILDCARD_POOLS) return 'all';
    throw badRequest(`the chain lists ${count} pools: name those that you want`);
  }

  /** To be called about once a second: heartbeats, and the end of connections that are not read. */
  tick(): void {
    for (const subscriber of this.#subscribers) subscriber.tick();
  }

  /** Says `bye` to all. */
  close(reason: ByeReason): void {
    for (const subscriber of this.#subscribers) subscriber.close(reason);
  }

  get head(): BlockRef {
    if (!this.#head) throw new Error('the stream is not ready');
    return this.#head;
  }

  now(): number {
    return this.#deps.now?.() ?? performance.now();
  }

  servedPools(): readonly Address[] {
    return this.#table?.ofChain(this.chainId).map(({ address }) => address) ?? [];
  }

  isServed(pool: Address): boolean {
    return this.#table?.find(this.chainId, pool) !== undefined;
  }

  hold(subscriber: Subscriber, pool: Address, kind: QuoteKind): () => void {
    const holders = this.#holders[kind];
    const ofPool = holders.get(pool) ?? new Set();
    holders.set(pool, ofPool.add(subscriber));
    const release = this.#deps.warmer.requested.pin(pool, kind, subscriber.hasKey);
    return () => {
      release();
      ofPool.delete(subscriber);
      if (ofPool.size === 0) holders.delete(pool);
    };
  }

  onDisconnected(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  #take({ kind, block, replacedFrom, outcomes, seenAt, readyAt }: WarmResult): void {
    const latest = this.latest[kind];
    const isNewBlock = latest.block?.hash !== block.hash;
    const changed = latest.take(block, outcomes);
    if (replacedFrom !== null) for (const subscriber of this.#subscribers) subscriber.reorg(replacedFrom);
    for (const pool of changed) for (const holder of this.#holders[kind].get(pool) ?? []) holder.touch(pool);
    for (const subscriber of this.#subscribers) {
      if (subscriber.hasDepth === (kind === 'depths')) subscriber.flush(isNewBlock);
    }
    this.observer.written(readyAt - seenAt, this.now() - seenAt);
  }

  #takeListing({ chainId, address }: ServedPool, removal: RemovalReason | null): void {
    if (chainId !== this.chainId) return;
    if (removal) setImmediate(() => this.#sendRemoved(address, removal));
    else for (const subscriber of this.#subscribers) subscriber.join(address);
  }

  #sendRemoved(pool: Address, reason: RemovalReason): void {
    // A pool that was replaced is still served.
    if (this.isServed(pool)) return;
    for (const subscriber of this.#subscribers) subscriber.remove(pool, reason);
  }
}
