import type { Address } from 'viem';
import type { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { type ByeReason, byeOf } from '../sockets/bye.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { MessageWriter } from './message-writer.ts';
import type { StreamMetrics } from './metrics.ts';
import { nextMessages } from './next-messages.ts';
import { nextSubscriber, type SubscriberEvent } from './next-subscriber.ts';
import { type ChainView, NEW_SUBSCRIBER } from './subscriber-state.ts';
import type { StreamTransport, Subscription } from './types.ts';

/** What the subscribers of a chain have in common. */
export interface SubscriberSource extends ChainView {
  readonly requested: RequestedPools;
  readonly metrics: StreamMetrics;
  readonly sockets: Pick<Sockets, 'countTermination'>;
}

interface SubscriberDeps {
  readonly transport: StreamTransport;
  readonly source: SubscriberSource;
  /** Called once, when the connection is over. */
  readonly onOver: () => void;
}

/** One connection: sends what {@link nextSubscriber} and {@link nextMessages} say, as far as its client takes it. */
export class Subscriber {
  readonly #deps: SubscriberDeps;
  public hasKey: boolean;
  #state = NEW_SUBSCRIBER;
  readonly #writer: MessageWriter;
  /** Releases each pinned pool. */
  readonly #pins = new Map<Address, () => void>();

  /** @param hasKey whether the client has a key: simulated pools are read ahead for keys only */
  constructor(deps: SubscriberDeps, hasKey: boolean) {
    this.#deps = deps;
    this.hasKey = hasKey;
    const { source, transport } = deps;
    this.#writer = new MessageWriter(source.chainId, transport);
    transport.onDrain(() => this.take({ kind: 'drained' }));
  }

  /** Whether the client has subscribed. */
  get isSubscribed(): boolean {
    return this.#state.isSubscribed;
  }

  /** Whether the client ever subscribed to depth: what is sent then follows reads of depths, not of prices. */
  get hasDepth(): boolean {
    return this.#state.hasDepth;
  }

  subscribe(subscription: Subscription): void {
    this.take({ kind: 'subscribe', subscription });
  }

  unsubscribe(pools: readonly Address[]): void {
    this.take({ kind: 'unsubscribe', pools });
  }

  /** To be called once a second. */
  tick(): void {
    this.take({ kind: 'tick', isFull: this.#writer.isFull });
  }

  /** Says `bye` and ends the transport. */
  close(reason: ByeReason): void {
    this.take({ kind: 'close', bye: byeOf(reason) });
  }

  /** Forgets the connection. To be called when the transport is closed, whoever closed it. */
  disconnected(): void {
    this.take({ kind: 'disconnected' });
  }

  /** Does what follows from an event. */
  take(event: SubscriberEvent): void {
    const { source, transport, onOver } = this.#deps;
    const [state, { pin, release, resumed, bye, end, isFlushDue }] = nextSubscriber(this.#state, event, source);
    this.#state = state;
    for (const { pool, kind } of pin) {
      const before = this.#pins.get(pool);
      this.#pins.set(pool, source.requested.pin(pool, kind, this.hasKey));
      before?.();
    }
    for (const pool of release) {
      this.#pins.get(pool)?.();
      this.#pins.delete(pool);
    }
    if (resumed) source.metrics[resumed].inc({ chain: source.chainId });
    if (bye) this.#writer.send(bye);
    if (end === 'terminate') source.sockets.countTermination(source.chainId, 'unread');
    if (end) onOver();
    if (end && end !== 'closed') transport[end]();
    if (isFlushDue) this.#flush();
  }

  #flush(): void {
    if (this.#writer.isFull) return;
    for (const [state, messages] of nextMessages(this.#state, this.#deps.source)) {
      this.#state = state;
      for (const message of messages) this.#writer.send(message);
      if (this.#writer.isFull) return;
      // What a send made happen comes first.
      if (this.#state !== state) {
        this.#flush();
        return;
      }
    }
  }
}
