import type { Chain } from '../../quoting/open-chain.ts';
import type { PoolDirectory, RemovalReason, ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { WarmResult } from '../../quoting/requested/block-warmer.ts';
import { badRequest, throwUnavailable } from '../errors.ts';
import { LatestQuotes } from './latest-quotes.ts';
import type { StreamMetrics } from './metrics.ts';
import { Subscriber, type SubscriberSource } from './subscriber.ts';
import type { StreamTransport } from './types.ts';

/** Most listed pools of a chain that a client with a key may subscribe to without naming them. */
export const MAX_WILDCARD_POOLS = 2_000;

/** What a stream sends: quotes of one basis. */
export type StreamedQuotes = Pick<Chain, 'heads' | 'requested' | 'warmer'>;
export type StreamedChain = Pick<Chain, 'chainId'> & StreamedQuotes;

export interface ChainStreamDeps {
  readonly chain: StreamedChain;
  readonly directory: PoolDirectory;
  readonly metrics: StreamMetrics;
}

/** The stream of one chain and basis: takes what is read at each block, and lets each subscriber send what concerns it. */
export class ChainStream {
  readonly #latest = { prices: new LatestQuotes(), depths: new LatestQuotes() };
  readonly #subscribers = new Set<Subscriber>();
  readonly #depthListeners = new Set<() => void>();
  /** Undefined until {@link ready} succeeded once. */
  #source: SubscriberSource | undefined;

  constructor(private readonly deps: ChainStreamDeps) {
    deps.chain.warmer.onResult((result) => {
      if (result) this.#take(result);
      else for (const latest of Object.values(this.#latest)) latest.clear();
    });
  }

  /** The latest quotes with depth of the requested pools. */
  get depths(): LatestQuotes {
    return this.#latest.depths;
  }

  /** Calls the listener when pools were read with depth. It must not throw. @returns removes the listener */
  onDepths(listener: () => void): () => void {
    this.#depthListeners.add(listener);
    return () => this.#depthListeners.delete(listener);
  }

  /** Number of open connections. */
  get subscriberCount(): number {
    return this.#subscribers.size;
  }

  /**
   * Makes the stream ready. To be awaited before a connection is opened.
   *
   * @throws ApiError 503 when the pools or the head are not known
   */
  async ready(): Promise<void> {
    const { chain, directory, metrics } = this.deps;
    const table = await directory.table();
    const { block: head } = await chain.heads.head().catch(throwUnavailable);
    if (!this.#source) table.onChange((pool, removal) => this.#takeListing(pool, removal));
    const { chainId, requested } = chain;
    this.#source = { chainId, latest: this.#latest, head, table, requested, metrics };
  }

  /** Adds a connection, without subscriptions yet. */
  open(transport: StreamTransport, hasKey: boolean): Subscriber {
    const onOver = () => this.#subscribers.delete(subscriber);
    const subscriber = new Subscriber(transport, hasKey, this.#common, onOver);
    this.#subscribers.add(subscriber);
    return subscriber;
  }

  /**
   * Gives what a connection subscribes to if it names no pools.
   *
   * @throws ApiError 400 when the chain lists more than `MAX_WILDCARD_POOLS`
   */
  allPools(): 'all' {
    const { table, chainId } = this.#common;
    const count = table.ofChain(chainId).length;
    if (count <= MAX_WILDCARD_POOLS) return 'all';
    throw badRequest(`the chain lists ${count} pools: name those that you want`);
  }

  /** To be called about once a second: sends heartbeats, and terminates connections whose clients do not read. */
  tick(): void {
    for (const subscriber of this.#subscribers) subscriber.tick();
  }

  /** Counts a client that was terminated, since it answered no pings or did not read the answers to its own. */
  countTimeout(): void {
    this.deps.metrics.terminations.inc({ chain: this.deps.chain.chainId, reason: 'timeout' });
  }

  get #common(): SubscriberSource {
    if (!this.#source) throw new Error('the stream is not ready');
    return this.#source;
  }

  #take({ kind, block, branch, outcomes, seenAt, readyAt }: WarmResult): void {
    const { chain, metrics } = this.deps;
    const chainId = chain.chainId;
    const isNewBlock = this.#latest[kind].block?.hash !== block.hash;
    this.#latest[kind].take(block, branch, outcomes);
    for (const subscriber of this.#subscribers) {
      if (subscriber.hasDepth === (kind === 'depths')) subscriber.flush(isNewBlock);
    }
    if (kind === 'depths') for (const listener of this.#depthListeners) listener();
    metrics.read.observe({ chain: chainId }, (readyAt - seenAt) / 1_000);
    metrics.written.observe({ chain: chainId }, (performance.now() - seenAt) / 1_000);
  }

  #takeListing({ chainId, address }: ServedPool, removal: RemovalReason | null): void {
    if (chainId !== this.deps.chain.chainId) return;
    if (!removal) for (const subscriber of this.#subscribers) subscriber.join(address);
    else {
      setImmediate(() => {
        // A pool that was replaced is still served.
        if (this.#common.table.find(chainId, address)) return;
        for (const subscriber of this.#subscribers) subscriber.remove(address, removal);
      });
    }
  }
}
