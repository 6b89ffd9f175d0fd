import { type Address, type Hex, toHex } from 'viem';
import { expect } from 'vitest';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import { PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { pricedAt } from '../../quoting/snapshot.fixture.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { QuoteKind, Snapshot } from '../../quoting/types.ts';
import { Book } from '../../test/stream/book.ts';
import { LatestQuotes } from '../latest/latest-quotes.ts';
import { toQuote } from '../quotes/quote-body.ts';
import { MessageWriter } from './message-writer.ts';
import { nextMessages } from './next-messages.ts';
import { nextSubscriber, type SubscriberEvent } from './next-subscriber.ts';
import { type ChainView, NEW_SUBSCRIBER, type SubscriberState } from './subscriber-state.ts';

/* One connection over a chain whose blocks, reads, ticks and socket the tests set: no clock, no timer, no I/O. */

const CHAIN = 7;
export const POOLS = [0, 1, 2, 3].map((number) => flatPool(100 + number, { chainId: CHAIN }));
export const ADDRESSES = POOLS.map(({ address }) => address);
const genesis = { number: 10n, hash: toHex(0, { size: 32 }), timestamp: 0n, parents: [toHex(99, { size: 32 })] };

/** A connection, its client and the chain that it follows. */
export class SubscriberWorld {
  readonly table = new PoolTable(POOLS);
  readonly latest = { prices: new LatestQuotes(), depths: new LatestQuotes() };
  readonly view: ChainView = { chainId: CHAIN, latest: this.latest, head: genesis, table: this.table };
  readonly book = new Book();
  state = NEW_SUBSCRIBER;
  /** What keeps each pool requested. */
  pins = new Map<Address, QuoteKind>();
  /** How many more messages its socket takes. */
  room = Number.POSITIVE_INFINITY;
  ticksSinceMessage = 0;
  fullTicks = 0;
  readonly #prices = new Map<string, bigint>();
  ends: string[] = [];
  ended = 0;
  #writer = this.#newWriter();
  #branches = [ChainTail.EMPTY.endingWith(genesis)];
  #headers = [genesis];
  #made = 0;

  get isFull(): boolean {
    return this.room <= 0;
  }

  /** A block above the last one, or in place of the last ones, at which no pool is read yet. */
  mine(replaced: number): void {
    const kept = Math.max(1, this.#headers.length - replaced);
    this.#headers.splice(kept);
    this.#branches.splice(kept);
    this.#made += 1;
    const parent = this.#headers.at(-1) as typeof genesis;
    const header = {
      number: parent.number + 1n,
      hash: toHex(this.#made, { size: 32 }),
      timestamp: 0n,
      parents: [parent.hash],
    };
    this.#headers.push(header);
    this.#branches.push((this.#branches.at(-1) as ChainTail).endingWith(header));
  }

  /** Reads pools at the last block. @param prices undefined: it cannot be read */
  read(kind: QuoteKind, prices: readonly (readonly [pool: number, price: bigint | undefined])[]): void {
    const block = this.#headers.at(-1) as typeof genesis;
    const isNewBlock = this.latest[kind].block?.hash !== block.hash;
    const outcomes = new Map(
      prices.map(([pool, price]) => [
        ADDRESSES[pool] as Address,
        outcomeOf(pool, this.#sameAt(block, pool, price), block),
      ]),
    );
    const branch = this.#branches.at(-1) as ChainTail;
    this.latest[kind].take({ block, branch, requested: new Set(ADDRESSES), outcomes });
    if (this.state.hasDepth === (kind === 'depths')) this.take({ kind: 'read', isNewBlock });
  }

  /** A pool has one price at a block, whichever kind is read. */
  #sameAt({ hash }: { readonly hash: Hex }, pool: number, price: bigint | undefined): bigint | undefined {
    if (price === undefined) return undefined;
    const key = `${hash} ${pool}`;
    const first = this.#prices.get(key) ?? price;
    this.#prices.set(key, first);
    return first;
  }

  /** Whether the client may be sent something: it subscribed, and all that it subscribed to is of one block. */
  get isShown(): boolean {
    const { isSubscribed, isOver, hasDepth, subscribed } = this.state;
    const { prices, depths } = this.latest;
    const isSameBlock = prices.block && (!hasDepth || prices.block.hash === depths.block?.hash);
    return isSubscribed && !isOver && (subscribed.pools.length === 0 || isSameBlock === true);
  }

  /** Does what a connection does. */
  take(event: SubscriberEvent): void {
    const [state, { pin, release, bye, end, isFlushDue }] = nextSubscriber(frozen(this.state), event, this.view);
    this.state = state;
    for (const { pool, kind } of pin) this.pins.set(pool, kind);
    for (const pool of release) if (!this.pins.delete(pool)) throw new Error('released twice');
    if (bye) this.#writer.send(bye);
    if (end) this.ends.push(end);
    if (!isFlushDue || this.isFull) return;
    // A client that takes something is not one that takes nothing.
    if (this.isShown) this.fullTicks = 0;
    for (const [state, messages] of nextMessages(frozen(this.state), this.view)) {
      this.state = state;
      for (const message of messages) this.#writer.send(message);
      if (this.isFull) return;
    }
  }

  tick(): void {
    this.fullTicks = this.isFull ? this.fullTicks + 1 : 0;
    this.ticksSinceMessage += 1;
    this.take({ kind: 'tick', isFull: this.isFull });
  }

  /** The client forgets what it has of pools. */
  forget(pools: readonly Address[]): void {
    for (const pool of pools) for (const held of [this.book.quotes, this.book.failed]) held.delete(pool);
    // Whoever has not all of what it was sent cannot resume after that.
    this.book.lastId = undefined;
  }

  /** Another connection takes the place of this one, with the same pools. */
  reconnect(depth: boolean): void {
    const pools = this.state.subscribed.pools.map(({ address }) => address);
    const after = this.book.lastId;
    this.take({ kind: 'disconnected' });
    expect(this.pins.size).toBe(0);
    this.state = NEW_SUBSCRIBER;
    this.ends = [];
    this.room = Number.POSITIVE_INFINITY;
    [this.fullTicks, this.ticksSinceMessage] = [0, 0];
    this.#writer = this.#newWriter();
    this.book.reconnect();
    this.take({ kind: 'subscribe', subscription: { pools, depth, after } });
  }

  #newWriter(): MessageWriter {
    return new MessageWriter(CHAIN, {
      send: (event, id, data) => {
        expect(this.ends).toEqual([]);
        this.book.take({ event, id, data: JSON.parse(data) });
        this.room -= 1;
        this.ticksSinceMessage = 0;
        if (this.book.block !== null) this.#checkEnd();
      },
      unsentBytes: 0,
      onDrain: () => undefined,
      end: () => undefined,
      terminate: () => undefined,
    });
  }

  /** What a client holds after a message that ends a block is that of its block. */
  #checkEnd(): void {
    this.ended += 1;
    for (const { address: pool, kind } of this.state.subscribed.pools) {
      const outcome = this.latest[kind].get(pool)?.outcome;
      const held = this.book.quotes.get(pool)?.quote;
      const isRead = outcome && !(outcome instanceof SnapshotError);
      if (held) expect({ ...held, serverTs: 0 }).toEqual(isRead && { ...toQuote(outcome), serverTs: 0 });
      if (this.book.failed.has(pool)) expect(outcome).toBeInstanceOf(SnapshotError);
      if (this.book.isWhole) expect(held).toBeDefined();
    }
  }
}

/** The same state, in which nothing can be changed. */
function frozen(state: SubscriberState): SubscriberState {
  for (const each of [state, state.subscribed, ...Object.values(state.subscribed)]) Object.freeze(each);
  return state;
}

function outcomeOf(index: number, price: bigint | undefined, block: typeof genesis): Snapshot | SnapshotError {
  if (price === undefined) return new SnapshotError('read_failed', 'the node fails');
  return pricedAt(price, POOLS[index] as ServedPool, block);
}
