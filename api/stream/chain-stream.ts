import type { RemovalReason, ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { WarmResult } from '../../quoting/requested/warm-result.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChainQuotes } from '../latest/chain-quotes.ts';
import { assertWildcard } from '../sockets/pool-lists.ts';
import type { Sockets } from '../sockets/sockets.ts';
import type { StreamMetrics } from './metrics.ts';
import { Subscriber, type SubscriberSource } from './subscriber.ts';
import type { StreamTransport } from './types.ts';

export interface ChainStreamDeps {
  readonly quotes: ChainQuotes;
  readonly metrics: StreamMetrics;
  readonly sockets: Pick<Sockets, 'countTermination'>;
  /** The clock of the warmer. */
  readonly now: Clock;
}

/**
 * The stream of one chain and basis: takes what is read at each block, and lets each subscriber send what concerns it.
 */
export class ChainStream {
  readonly #deps: ChainStreamDeps;
  readonly #subscribers = new Set<Subscriber>();
  /** Undefined until {@link ready} succeeded once. */
  #source: SubscriberSource | undefined;

  constructor(deps: ChainStreamDeps) {
    this.#deps = deps;
    deps.quotes.onRead((read, isNewBlock) => this.#send(read, isNewBlock));
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
    const { quotes, metrics, sockets } = this.#deps;
    const { table, head } = await quotes.ready();
    if (!this.#source) table.onChange((pool, removal) => this.#takeListing(pool, removal));
    const { chainId, requested } = quotes.chain;
    this.#source = { chainId, latest: quotes, head, table, requested, metrics, sockets };
  }

  /** Adds a connection, without subscriptions yet. */
  open(transport: StreamTransport, hasKey: boolean): Subscriber {
    const onOver = () => this.#subscribers.delete(subscriber);
    const subscriber = new Subscriber({ transport, source: this.#common, onOver }, hasKey);
    this.#subscribers.add(subscriber);
    return subscriber;
  }

  /** Gives what a connection subscribes to if it names no pools. @throws ApiError 400 when the chain lists too many */
  allPools(): 'all' {
    const { table, chainId } = this.#common;
    assertWildcard(table, chainId);
    return 'all';
  }

  /** To be called about once a second: sends heartbeats, and terminates connections whose clients do not read. */
  tick(): void {
    for (const subscriber of this.#subscribers) subscriber.tick();
  }

  get #common(): SubscriberSource {
    if (!this.#source) throw new Error('the stream is not ready');
    return this.#source;
  }

  #send({ kind, seenAt, readyAt }: WarmResult, isNewBlock: boolean): void {
    const { quotes, metrics, now } = this.#deps;
    const chain = quotes.chain.chainId;
    for (const subscriber of this.#subscribers) {
      if (subscriber.hasDepth === (kind === 'depths')) subscriber.take({ kind: 'read', isNewBlock });
    }
    metrics.read.observe({ chain }, (readyAt - seenAt) / 1_000);
    metrics.written.observe({ chain }, (now() - seenAt) / 1_000);
  }

  #takeListing({ chainId, address }: ServedPool, removal: RemovalReason | null): void {
    if (chainId !== this.#deps.quotes.chain.chainId) return;
    if (!removal) for (const subscriber of this.#subscribers) subscriber.take({ kind: 'listed', pool: address });
    else {
      setImmediate(() => {
        // A pool that was replaced is still served.
        if (this.#common.table.find(chainId, address)) return;
        for (const subscriber of this.#subscribers)
          subscriber.take({ kind: 'removed', pool: address, reason: removal });
      });
    }
  }
}
