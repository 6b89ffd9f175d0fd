import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { RemovalReason } from '../snapshots/pool-directory.ts';
import { SnapshotError } from '../snapshots/types.ts';
import type { QuoteKind } from '../warming/requested-pools.ts';
import { isRead, type LatestQuotes, type PoolOutcome } from './latest-quotes.ts';
import { MessageWriter } from './message-writer.ts';
import { poolParts } from './pool-parts.ts';
import type { ByeReason, ChainObserver, StreamEventName, StreamTransport, Subscription } from './types.ts';

/** What a subscriber needs of its stream. */
export interface SubscriberSource {
  readonly chainId: number;
  readonly latest: Readonly<Record<QuoteKind, LatestQuotes>>;
  /** The chain's head before anything is read. */
  readonly head: BlockRef;
  now(): number;
  /** Every listed pool of the chain. */
  servedPools(): readonly Address[];
  isServed(pool: Address): boolean;
  /** Requests a pool for the subscriber and reports its changes; gives what ends it. */
  hold(subscriber: Subscriber, pool: Address, kind: QuoteKind): () => void;
  readonly observer: ChainObserver;
  onDisconnected(subscriber: Subscriber): void;
}

interface Held {
  readonly kind: QuoteKind;
  readonly release: () => void;
  /** Number of the block of the last message that had it; null before, so that a `snapshot` is the first. */
  sentAt: bigint | null;
}

/** A heartbeat follows when nothing was sent for so long. */
const MAX_IDLE_MS = 14_000;
/** A connection to which nothing more can be sent for so long is terminated. */
const MAX_FULL_MS = 10_000;
/** When to come back, in milliseconds: between these two times, so that clients of a stopped process do not come all at once. */
const RETRY_MS: Readonly<Record<ByeReason, readonly [number, number]>> = {
  shutdown: [1_000, 5_000],
  limits: [10_000, 10_000],
  key_revoked: [60_000, 60_000],
};

/**
 * One connection's state. It holds no texts but sets of pools that are to be sent: a client that reads slowly gets the latest
 * when its socket takes more, and nothing in between.
 *
 * Invariants: after a `heartbeat`, or an `update` or `snapshot` with `last`, the client has been sent every pool that it was
 * ever sent as it is at the block of that message. If that message also has an id, the client has the quotes of all its pools.
 */
export class Subscriber {
  /** Simulated pools are read ahead for keys only. */
  hasKey: boolean;
  /** Before the first subscription nothing but `bye` is sent. */
  isSubscribed = false;
  readonly #transport: StreamTransport;
  readonly #writer: MessageWriter;
  readonly #source: SubscriberSource;
  readonly #held = new Map<Address, Held>();
  /** Of these, the ones with depth. */
  #depthCount = 0;
  /** XOR of the numbers of the held pools: names them and their kinds, in any order. */
  #poolSet = 0n;
  /** To be sent; those that are not held are not served. */
  readonly #pending = new Set<Address>();
  /** Sent last without a quote that any process would send. */
  readonly #unread = new Set<Address>();
  readonly #removed = new Map<Address, RemovalReason>();
  #reorgFrom: bigint | null = null;
  #hasGap = false;
  #isOver = false;
  #all: QuoteKind | null = null;

  constructor(transport: StreamTransport, hasKey: boolean, source: SubscriberSource) {
    this.hasKey = hasKey;
    this.#transport = transport;
    this.#writer = new MessageWriter(source.chainId, transport, () => source.now());
    this.#source = source;
    transport.onDrain(() => this.flush(false));
  }

  /** Pools that it is subscribed to now. */
  get poolCount(): number {
    return this.#held.size;
  }

  get hasDepth(): boolean {
    return this.#depthCount > 0;
  }

  /** Sends a snapshot of these pools, or resumes, then sends their changes. Pools that it has already are sent again. */
  subscribe({ pools, depth, after }: Subscription): void {
    if (this.#isOver) return;
    const kind = depth ? 'depths' : 'prices';
    if (pools === 'all') this.#all = kind;
    const named = pools === 'all' ? this.#source.servedPools() : pools;
    for (const pool of named) if (this.#source.isServed(pool)) this.#hold(pool, kind);
    const isResumed = after !== undefined && this.#resume(after, kind);
    if (!isResumed) for (const pool of named) this.#pending.add(pool);
    if (isResumed) this.#source.observer.resumed();
    else if (after !== undefined) {
      this.#source.observer.gap();
      this.#hasGap = true;
    }
    this.isSubscribed = true;
    // A client that missed nothing may use its quotes again at once.
    this.flush(isResumed);
  }

  unsubscribe(pools: readonly Address[]): void {
    for (const pool of pools) this.#drop(pool);
  }

  /** Says `bye` and ends the transport. */
  close(reason: ByeReason): void {
    if (this.#isOver) return;
    const [min, max] = RETRY_MS[reason];
    const retryMs = Math.round(min + Math.random() * (max - min));
    // What the client holds stays as it is.
    this.#send('bye', `,"reason":"${reason}","retryMs":${retryMs}`, this.#writer.lastId);
    this.disconnected();
    this.#transport.end();
  }

  /** The transport is closed: forgets the connection, whoever ended it. */
  disconnected(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.unsubscribe([...this.#held.keys()]);
    this.#source.onDisconnected(this);
  }

  /** A pool that it holds changed. */
  touch(pool: Address): void {
    this.#pending.add(pool);
  }

  /** Blocks from this one on were replaced: what was sent at them is sent again. */
  reorg(from: bigint): void {
    const sent = [...this.#held].filter(([, { sentAt }]) => sentAt !== null);
    if (sent.length === 0) return;
    if (this.#reorgFrom === null || from < this.#reorgFrom) this.#reorgFrom = from;
    for (const [pool, { sentAt }] of sent) if (sentAt !== null && sentAt >= from) this.#pending.add(pool);
  }

  /** A pool is no longer served. */
  remove(pool: Address, reason: RemovalReason): void {
    if (!this.#held.has(pool)) return;
    this.#drop(pool);
    this.#removed.set(pool, reason);
    this.flush(false);
  }

  /** A pool was listed: it joins when all are subscribed to. */
  join(pool: Address): void {
    if (!this.#all || this.#held.has(pool)) return;
    // It comes as an update.
    this.#hold(pool, this.#all, 0n);
    this.#pending.add(pool);
    this.flush(false);
  }

  /** To be called about once a second. */
  tick(): void {
    if (this.#writer.fullMs >= MAX_FULL_MS) {
      this.#source.observer.terminated();
      this.disconnected();
      this.#transport.terminate();
    } else if (this.#writer.idleMs >= MAX_IDLE_MS) this.flush(true);
  }

  /** Sends what is to be sent, as far as the client takes it; with nothing to send, a heartbeat when `mayBeat`. */
  flush(mayBeat: boolean): void {
    if (!this.isSubscribed || this.#isOver || this.#writer.isFull || !this.#block()) return;
    const hasVoided = this.#sendVoided();
    const ready = [...this.#pending].filter((pool) => !this.#held.has(pool) || this.#outcome(pool));
    const isFirst = (pool: Address) => (this.#held.get(pool)?.sentAt ?? null) === null;
    const snapshot = ready.filter(isFirst);
    const changed = ready.filter((pool) => !isFirst(pool));
    const isStale = (pool: Address) => this.#outcome(pool) instanceof SnapshotError;
    const stale = changed.filter(isStale);
    for (const { errors } of this.#parts(stale)) this.#send('stale', `,"pools":[${errors}]`);
    let isEnd = false;
    for (const { quotes, isLast } of this.#parts(changed.filter((pool) => !isStale(pool)))) {
      isEnd = isLast && snapshot.length === 0;
      this.#send('update', `,"quotes":[${quotes}],"last":${isEnd}`, this.#idAt(isEnd));
    }
    for (const { quotes, errors, isLast } of this.#parts(snapshot)) {
      isEnd = isLast;
      this.#send('snapshot', `,"quotes":[${quotes}],"errors":[${errors}],"last":${isEnd}`, this.#idAt(isEnd));
    }
    const isDue = mayBeat || hasVoided || stale.length > 0;
    if (!isEnd && isDue && !this.#writer.isFull) this.#send('heartbeat', '', this.#idAt(true));
  }

  /** Sends what makes earlier messages void. @returns whether there was any */
  #sendVoided(): boolean {
    const events: [StreamEventName, string][] = [];
    if (this.#hasGap) events.push(['gap', '']);
    if (this.#reorgFrom !== null) events.push(['reorg', `,"fromBlock":${this.#reorgFrom}`]);
    const removed = [...this.#removed].map(([poolAddress, reason]) => ({ poolAddress, reason }));
    if (removed.length > 0) events.push(['removed', `,"pools":${JSON.stringify(removed)}`]);
    for (const [event, fields] of events) this.#send(event, fields);
    this.#hasGap = false;
    this.#reorgFrom = null;
    this.#removed.clear();
    return events.length > 0;
  }

  /** Takes pools out of those that are to be sent, as long as the client takes them. */
  *#parts(pools: readonly Address[]) {
    let count = 0;
    for (const part of poolParts(pools, (pool) => this.#outcome(pool))) {
      if (this.#writer.isFull) return;
      for (const pool of part.pools) this.#noteSent(pool);
      count += part.pools.length;
      yield { ...part, isLast: count === pools.length };
    }
  }

  #noteSent(pool: Address): void {
    this.#pending.delete(pool);
    const held = this.#held.get(pool);
    if (!held) return;
    held.sentAt = this.#block()?.number ?? null;
    const outcome = this.#outcome(pool);
    if (outcome && isRead(outcome)) this.#unread.delete(pool);
    else this.#unread.add(pool);
  }

  #send(event: StreamEventName, fields: string, id?: string): void {
    this.#writer.send(event, this.#block() ?? this.#source.latest.prices.block ?? this.#source.head, fields, id);
  }

  /** The id of a message: empty unless the client then knows the quotes of all its pools at this block. */
  #idAt(isEnd: boolean): string {
    const block = this.#block();
    if (!isEnd || !block || this.#pending.size + this.#unread.size > 0) return '';
    return `${block.number}-${block.hash}-${this.#poolSet.toString(36)}`;
  }

  /** The block of what can be sent now; undefined while depths that are requested are not read at the block of the prices. */
  #block(): BlockRef | undefined {
    const { prices, depths } = this.#source.latest;
    if (this.#held.size === 0) return prices.block ?? this.#source.head;
    return this.hasDepth && depths.block?.hash !== prices.block?.hash ? undefined : prices.block;
  }

  #outcome(pool: Address): PoolOutcome | undefined {
    const kind = this.#held.get(pool)?.kind;
    return kind && this.#source.latest[kind].outcome(pool);
  }

  #hold(pool: Address, kind: QuoteKind, sentAt: bigint | null = null): void {
    this.#drop(pool);
    this.#held.set(pool, { kind, release: this.#source.hold(this, pool, kind), sentAt });
    this.#poolSet ^= numberOf(pool, kind);
    if (kind === 'depths') this.#depthCount += 1;
  }

  #drop(pool: Address): void {
    for (const pools of [this.#pending, this.#unread, this.#removed]) pools.delete(pool);
    const held = this.#held.get(pool);
    if (!held) return;
    held.release();
    this.#held.delete(pool);
    this.#poolSet ^= numberOf(pool, held.kind);
    if (held.kind === 'depths') this.#depthCount -= 1;
  }

  /** Resumes after the last message of another connection. @returns false when what changed since is not known */
  #resume(after: string, kind: QuoteKind): boolean {
    const [, hash = '', poolSet] = after.split('-');
    const latest = this.#source.latest[kind];
    const block = latest.followedBlock(hash);
    const isSameSet = poolSet === this.#poolSet.toString(36);
    if (block === undefined || !isSameSet || [...this.#held.keys()].some((pool) => !latest.outcome(pool))) return false;
    for (const [pool, held] of this.#held) {
      held.sentAt = block;
      if (!latest.isUnchangedSince(pool, block)) this.#pending.add(pool);
    }
    return true;
  }
}

/** Different sets have the same XOR of these by accident alone. */
const numberOf = (pool: Address, kind: QuoteKind): bigint =>
  2n * BigInt(`0x${pool.slice(-16)}`) + (kind === 'depths' ? 1n : 0n);
