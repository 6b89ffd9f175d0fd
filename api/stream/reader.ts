import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import { SnapshotError } from '../snapshots/types.ts';
import type { QuoteKind } from '../warming/requested-pools.ts';
import type { Board } from './board.ts';
import type { Missed } from './history.ts';
import { notServedJson, outcomeJson, PART_LENGTH } from './messages.ts';
import { Outlet } from './outlet.ts';
import { allOf, PoolSet } from './pool-set.ts';
import type {
  ByeReason,
  RemovalReason,
  StreamClient,
  StreamEventName,
  StreamReader,
  StreamTransport,
  Subscription,
} from './types.ts';

/** What a reader needs of its stream. */
export interface ReaderSource {
  readonly chainId: number;
  readonly epoch: string;
  readonly seq: number;
  readonly boards: Readonly<Record<QuoteKind, Board>>;
  readonly config: StreamConfig;
  now(): number;
  servedPools(): readonly ServedPool[];
  /**
   * What was missed since a message; null when it is not known, changes of these pools may have got lost, or the message was
   * of other pools.
   */
  missed(after: string, kind: QuoteKind, subscription: Pick<Subscription, 'pools' | 'unknown'>): Missed | null;
  /** Wants a pool for the reader and tells it of changes; gives what ends it. */
  hold(reader: Reader, pool: Address, kind: QuoteKind): () => void;
  onResume(isResumed: boolean): void;
  onCut(): void;
  onGone(reader: Reader): void;
}

interface Held {
  readonly kind: QuoteKind;
  readonly release: () => void;
  /** Block of the last message that told it; null before. */
  toldAt: bigint | null;
}

/** What one message tells of pools, as JSON each. */
interface Part {
  readonly quotes: readonly string[];
  readonly errors: readonly string[];
  readonly isLast: boolean;
}

/** A heartbeat follows when nothing was sent for so long. */
const MOST_SILENT_MS = 14_000;

/**
 * One connection's state. It holds no texts but sets of pools that are to be told: a client that reads slowly gets the latest
 * when its socket takes more, and nothing in between.
 *
 * Invariant: after a `heartbeat`, or an `update` or `snapshot` with `last`, the client has been told of every pool that it was
 * ever told of how it is at the block of that message.
 */
export class Reader implements StreamReader {
  readonly #transport: StreamTransport;
  readonly #outlet: Outlet;
  readonly #source: ReaderSource;
  readonly #firstBlock: BlockRef;
  readonly #held = new Map<Address, Held>();
  readonly #poolSet = new PoolSet();
  /** Of these, the ones with depth. */
  #depthCount = 0;
  /** To be told in a snapshot. */
  readonly #fresh = new Set<Address>();
  /** Of these, the ones that are not served. */
  readonly #unknown = new Set<Address>();
  /** Told before, and changed since. */
  readonly #dirty = new Set<Address>();
  readonly #removed = new Map<Address, RemovalReason>();
  #reorgFrom: bigint | null = null;
  #hasGap = false;
  /** Before the first subscription nothing is told: a message's id would say that the client knows what it does not. */
  #hasBegun = false;
  #isOver = false;
  #all: QuoteKind | null = null;
  readonly hasKey: boolean;

  /** @param firstBlock the chain's head when it came */
  constructor(transport: StreamTransport, { hasKey }: StreamClient, source: ReaderSource, firstBlock: BlockRef) {
    this.hasKey = hasKey;
    this.#transport = transport;
    this.#outlet = new Outlet(transport, source.config.maxUnsentBytes, () => source.now());
    this.#source = source;
    this.#firstBlock = firstBlock;
    transport.onDrain(() => this.flush(false));
  }

  get poolCount(): number {
    return this.#held.size;
  }

  get hasDepth(): boolean {
    return this.#depthCount > 0;
  }

  subscribe({ pools, unknown = [], depth, after }: Subscription): void {
    const kind = depth ? 'depths' : 'prices';
    if (pools === 'all') this.#all = kind;
    const served = pools === 'all' ? this.#source.servedPools() : pools;
    const missed = after === undefined ? null : this.#source.missed(after, kind, { pools, unknown });
    if (after !== undefined) this.#source.onResume(missed !== null);
    for (const { address } of served) this.#hold(address, kind);
    if (missed) this.#resume(missed, unknown);
    else {
      this.#hasGap ||= after !== undefined;
      for (const { address } of served) this.#fresh.add(address);
      for (const address of unknown) this.#fresh.add(address) && this.#unknown.add(address);
    }
    this.#hasBegun = true;
    // Who missed nothing may use its quotes again at once.
    this.flush(missed !== null);
  }

  unsubscribe(pools: readonly Address[]): void {
    for (const pool of pools) this.#drop(pool);
  }

  close(reason: ByeReason, retryMs: number): void {
    if (this.#isOver) return;
    this.#send('bye', `,"reason":"${reason}","retryMs":${retryMs}`);
    this.gone();
    this.#transport.end();
  }

  gone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.unsubscribe([...this.#held.keys()]);
    this.#source.onGone(this);
  }

  /** A pool that it holds changed. */
  touch(pool: Address): void {
    if (!this.#fresh.has(pool)) this.#dirty.add(pool);
  }

  /** Blocks from this one on were replaced: what was told at them is told again. */
  reorg(from: bigint): void {
    const told = [...this.#held].filter(([, { toldAt }]) => toldAt !== null);
    if (told.length === 0) return;
    if (this.#reorgFrom === null || from < this.#reorgFrom) this.#reorgFrom = from;
    for (const [pool, { toldAt }] of told) if ((toldAt ?? 0n) >= from) this.touch(pool);
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
    this.#hold(pool, this.#all);
    this.#dirty.add(pool);
    this.flush(false);
  }

  /** To be called about once a second. */
  tick(): void {
    if (this.#outlet.fullMs >= this.#source.config.maxUnsentSecs * 1_000) {
      this.#source.onCut();
      this.gone();
      this.#transport.cut();
    } else if (this.#outlet.silentMs >= MOST_SILENT_MS) this.flush(true);
  }

  /** Tells what is to be told, as far as the client takes it; with nothing to tell, a heartbeat when `mayBeat`. */
  flush(mayBeat: boolean): void {
    if (!this.#hasBegun || this.#isOver || this.#outlet.isFull || !this.#block()) return;
    const hasTold = this.#tellVoid();
    const ready = [...this.#fresh].filter((pool) => this.#unknown.has(pool) || this.#outcome(pool));
    const changed = [...this.#dirty].filter((pool) => this.#outcome(pool));
    let isEnded = false;
    for (const { quotes, isLast } of this.#parts(changed, this.#dirty)) {
      isEnded = isLast && ready.length === 0;
      this.#send('update', `,"quotes":[${quotes}],"last":${isEnded}`, isEnded);
    }
    for (const { quotes, errors, isLast } of this.#parts(ready, this.#fresh)) {
      isEnded = isLast;
      this.#send('snapshot', `,"quotes":[${quotes}],"errors":[${errors}],"last":${isEnded}`, isEnded);
    }
    if (!isEnded && (mayBeat || hasTold) && !this.#outlet.isFull) this.#send('heartbeat', '', true);
  }

  /** Tells what makes earlier messages void. @returns whether there was any */
  #tellVoid(): boolean {
    const events: [StreamEventName, string][] = [];
    if (this.#hasGap) events.push(['gap', '']);
    if (this.#reorgFrom !== null) events.push(['reorg', `,"fromBlock":${this.#reorgFrom}`]);
    const removed = [...this.#removed].map(([poolAddress, reason]) => ({ poolAddress, reason }));
    if (removed.length > 0) events.push(['removed', `,"pools":${JSON.stringify(removed)}`]);
    for (const [event, fields] of events) this.#send(event, fields);
    this.#hasGap = false;
    this.#reorgFrom = null;
    this.#removed.clear();
    const stale = [...this.#dirty].filter((pool) => this.#outcome(pool) instanceof SnapshotError);
    for (const { errors } of this.#parts(stale, this.#dirty)) this.#send('stale', `,"pools":[${errors}]`);
    return events.length > 0 || stale.length > 0;
  }

  /** Takes pools out of those that are to be told, in parts of bounded length, as long as the client takes them. */
  *#parts(pools: readonly Address[], pending: Set<Address>): Iterable<Part> {
    for (let next = 0; next < pools.length && !this.#outlet.isFull; ) {
      const quotes: string[] = [];
      const errors: string[] = [];
      for (let length = 0; next < pools.length; next++) {
        const pool = pools[next] as Address;
        const outcome = this.#outcome(pool);
        const text = outcome ? outcomeJson(pool, outcome) : notServedJson(pool);
        if (length > 0 && length + text.length > PART_LENGTH) break;
        length += text.length;
        (outcome && !(outcome instanceof SnapshotError) ? quotes : errors).push(text);
        this.#noteTold(pool, pending);
      }
      yield { quotes, errors, isLast: next === pools.length };
    }
  }

  #noteTold(pool: Address, pending: Set<Address>): void {
    pending.delete(pool);
    this.#unknown.delete(pool);
    const held = this.#held.get(pool);
    if (held) held.toldAt = this.#block()?.number ?? null;
  }

  #send(event: StreamEventName, fields: string, isEnd = false): void {
    const { chainId, epoch, seq, boards } = this.#source;
    const block = this.#block() ?? boards.prices.block ?? this.#firstBlock;
    const poolSet = this.#all ? allOf(this.#all) : this.#poolSet.name;
    this.#outlet.send(event, { chainId, epoch, seq, block }, fields, isEnd && this.#fresh.size === 0 ? poolSet : null);
  }

  /** The block of what can be told now; undefined between prices and depths of a head. */
  #block(): BlockRef | undefined {
    const { prices, depths } = this.#source.boards;
    if (this.#held.size === 0) return prices.block ?? this.#firstBlock;
    return this.hasDepth && depths.block?.hash !== prices.block?.hash ? undefined : prices.block;
  }

  #outcome(pool: Address) {
    const kind = this.#held.get(pool)?.kind;
    return kind && this.#source.boards[kind].get(pool)?.outcome;
  }

  #hold(pool: Address, kind: QuoteKind): void {
    this.#drop(pool);
    this.#held.set(pool, { kind, release: this.#source.hold(this, pool, kind), toldAt: null });
    this.#poolSet.add(pool, kind);
    if (kind === 'depths') this.#depthCount += 1;
  }

  #drop(pool: Address): void {
    const held = this.#held.get(pool);
    held?.release();
    if (held) this.#poolSet.delete(pool, held.kind);
    if (held?.kind === 'depths') this.#depthCount -= 1;
    this.#held.delete(pool);
    for (const pending of [this.#fresh, this.#unknown, this.#dirty, this.#removed]) pending.delete(pool);
  }

  /** Goes on after the last message that the client got on another connection. */
  #resume({ seq, blockNumber, reorgFrom, removed }: Missed, unknown: readonly Address[]): void {
    for (const [pool, held] of this.#held) {
      held.toldAt = blockNumber;
      const changedSeq = this.#source.boards[held.kind].get(pool)?.changedSeq ?? seq;
      if (reorgFrom !== null || changedSeq > seq) this.#dirty.add(pool);
    }
    this.#reorgFrom = reorgFrom;
    for (const pool of unknown) this.#removed.set(pool, removed.get(pool) ?? 'not_served');
    if (!this.#all) return;
    for (const [pool, reason] of removed) if (!this.#held.has(pool)) this.#removed.set(pool, reason);
  }
}
