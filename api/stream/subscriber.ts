import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { ChainTail, UNKNOWN_HEIGHT } from '../../quoting/heads/chain-tail.ts';
import type { PoolTable, RemovalReason } from '../../quoting/pools/pool-directory.ts';
import type { QuoteKind, RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { ReadyJson, readyArray } from '../../runtime/joined-json.ts';
import { COMMITTED, isLive, isRead, type LatestQuotes } from '../latest/latest-quotes.ts';
import { type ByeReason, byeOf } from '../sockets/bye.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { readMessageId, writeMessageId } from './message-id.ts';
import { type MessageFields, MessageWriter, messageParts, type PoolToSend, type SentQuote } from './message-writer.ts';
import type { StreamMetrics } from './metrics.ts';
import type { StreamEventName, StreamTransport, Subscription } from './types.ts';

/** What the subscribers of a chain have in common. */
export interface SubscriberSource {
  readonly chainId: number;
  readonly latest: Readonly<Record<QuoteKind, LatestQuotes>>;
  /** The chain's head before anything is read. */
  readonly head: BlockRef;
  readonly table: PoolTable;
  readonly requested: RequestedPools;
  readonly metrics: StreamMetrics;
  readonly sockets: Pick<Sockets, 'countTermination'>;
}

interface Held extends SentQuote {
  readonly kind: QuoteKind;
  readonly release: () => void;
}

/** A version that no quote has: a pool with it is sent again, as an update. */
const OUTDATED = 0;
/** A heartbeat follows when nothing was sent for this many seconds. */
const MAX_IDLE_SECS = 14;
/** A connection to which nothing more can be sent for this many seconds is terminated. */
const MAX_FULL_SECS = 10;
/**
 * The state of one connection. It holds no texts, only which version of each pool was sent. A client that reads slowly
 * gets the latest quotes when its socket takes more, and nothing in between.
 *
 * Invariants:
 * 1. After a `heartbeat`, or an `update` or `snapshot` with `last`, each pool that the client was ever sent has been
 *    sent as it is at the block of that message.
 * 2. If that message also has an id, the client has the quotes of all its pools.
 */
export class Subscriber {
  /** Whether the client has subscribed. Before that, only `bye` is sent. */
  isSubscribed = false;
  /** Whether the client ever subscribed to depth. It is then sent a block only once depths are read at that block. */
  hasDepth = false;
  readonly #writer: MessageWriter;
  readonly #held = new Map<Address, Held>();
  /** XOR of the numbers of the held pools. It identifies these pools and their kinds, in any order. */
  #poolSet = 0n;
  /** Named pools that are not served, which the client is still to be sent. */
  readonly #unserved = new Set<Address>();
  readonly #removed = new Map<Address, RemovalReason>();
  /** The block of the last message and those below it. */
  #sentBranch = ChainTail.EMPTY;
  #hasGap = false;
  /** Whether to send a heartbeat as soon as all pools that the client was sent are read. */
  #isBeatDue = false;
  #isOver = false;
  /** Seconds since the last message, and since the client could last be sent more. */
  #idleSecs = 0;
  #fullSecs = 0;
  #all: QuoteKind | null = null;

  /**
   * @param hasKey whether the client has a key: simulated pools are read ahead for keys only
   * @param onOver called once, when the connection is over
   */
  constructor(
    private readonly transport: StreamTransport,
    public hasKey: boolean,
    private readonly source: SubscriberSource,
    private readonly onOver: () => void,
  ) {
    this.#writer = new MessageWriter(source.chainId, transport);
    transport.onDrain(() => this.flush(false));
  }

  /** Sends a snapshot of these pools, or resumes, and then sends changes. Pools that the client has are sent again. */
  subscribe({ pools, depth, after }: Subscription): void {
    if (this.#isOver) return;
    const { chainId, table, metrics } = this.source;
    const kind = depth ? 'depths' : 'prices';
    if (depth) this.hasDepth = true;
    if (pools === 'all') this.#all = kind;
    const named = pools === 'all' ? table.ofChain(chainId).map(({ address }) => address) : pools;
    const served = named.filter((pool) => table.find(chainId, pool));
    for (const pool of served) this.#hold(pool, kind, null);
    const isResumed = after !== undefined && this.#resume(after, kind);
    if (!isResumed) for (const pool of named) if (!this.#held.has(pool)) this.#unserved.add(pool);
    if (isResumed) metrics.resumes.inc({ chain: chainId });
    else if (after !== undefined) {
      metrics.gaps.inc({ chain: chainId });
      this.#hasGap = true;
    }
    this.isSubscribed = true;
    // A heartbeat lets a client that missed nothing use its quotes again at once.
    this.flush(isResumed);
  }

  unsubscribe(pools: readonly Address[]): void {
    for (const pool of pools) this.#drop(pool);
  }

  /** Says `bye` and ends the transport. */
  close(reason: ByeReason): void {
    if (this.#isOver) return;
    // The id stays the same, because `bye` voids nothing that the client has.
    this.#send('bye', byeOf(reason), this.#writer.lastId);
    this.disconnected();
    this.transport.end();
  }

  /** Forgets the connection. To be called when the transport is closed, whoever closed it. */
  disconnected(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.unsubscribe([...this.#held.keys()]);
    this.onOver();
  }

  /** Removes a pool that is no longer served. */
  remove(pool: Address, reason: RemovalReason): void {
    if (!this.#held.has(pool)) return;
    this.#drop(pool);
    this.#removed.set(pool, reason);
    this.flush(false);
  }

  /** Adds a pool that was listed, if the client subscribes to all pools. */
  join(pool: Address): void {
    if (!this.#all || this.#held.has(pool)) return;
    // The client gets it as an update.
    this.#hold(pool, this.#all, OUTDATED);
    this.flush(false);
  }

  /** To be called once a second. */
  tick(): void {
    this.#idleSecs += 1;
    this.#fullSecs = this.#writer.isFull ? this.#fullSecs + 1 : 0;
    if (this.#fullSecs > MAX_FULL_SECS) {
      this.source.sockets.countTermination(this.source.chainId, 'unread');
      this.disconnected();
      this.transport.terminate();
    } else if (this.#idleSecs >= MAX_IDLE_SECS) this.flush(true);
  }

  /** Sends what is due, as far as the client takes it; if `mayBeat`, a heartbeat when no message ended the block. */
  flush(mayBeat: boolean): void {
    this.#isBeatDue ||= mayBeat;
    if (!this.isSubscribed || this.#isOver || this.#writer.isFull || !this.#block()) return;
    this.#fullSecs = 0;
    if (this.#sendVoided()) this.#isBeatDue = true;
    const isWhole = this.#isWhole();
    const due = this.#due();
    const isFirst = ({ sent }: PoolToSend) => !sent || sent.version === null;
    const isStale = ({ quote }: PoolToSend) => quote?.outcome instanceof SnapshotError;
    const snapshot = due.filter(isFirst);
    const changed = due.filter((each) => !isFirst(each));
    const stale = changed.filter(isStale);
    for (const { errors } of this.#parts(stale)) this.#send('stale', { pools: readyArray(errors) });
    let isEnd = false;
    for (const { quotes, isLast } of this.#parts(changed.filter((each) => !isStale(each)))) {
      isEnd = isLast && isWhole && snapshot.length === 0;
      this.#send('update', { quotes: readyArray(quotes), last: isEnd }, isEnd ? this.#id() : '');
    }
    for (const { quotes, errors, isLast } of this.#parts(snapshot)) {
      isEnd = isLast && isWhole;
      const fields = { quotes: readyArray(quotes), errors: readyArray(errors), last: isEnd };
      this.#send('snapshot', fields, isEnd ? this.#id() : '');
    }
    if (stale.length > 0) this.#isBeatDue = true;
    const isBeat = !isEnd && this.#isBeatDue && isWhole && !this.#writer.isFull;
    if (isBeat) this.#send('heartbeat', {}, this.#id());
    if (isEnd || isBeat) this.#isBeatDue = false;
  }

  /** Whether all pools that the client was sent are read at this block, unlike one subscribed to during the read. */
  #isWhole(): boolean {
    const { latest } = this.source;
    for (const [pool, { kind, version }] of this.#held) if (version !== null && !latest[kind].get(pool)) return false;
    return true;
  }

  /** Sends the messages that void earlier ones. @returns whether there were any */
  #sendVoided(): boolean {
    const events: [StreamEventName, MessageFields][] = [];
    const reorgFrom = this.#voidReplaced();
    if (this.#hasGap) events.push(['gap', {}]);
    if (reorgFrom !== null) events.push(['reorg', { fromBlock: new ReadyJson(`${reorgFrom}`) }]);
    const removed = [...this.#removed].map(([poolAddress, reason]) => ({ poolAddress, reason }));
    if (removed.length > 0) events.push(['removed', { pools: removed }]);
    for (const [event, fields] of events) this.#send(event, fields);
    this.#hasGap = false;
    this.#removed.clear();
    return events.length > 0;
  }

  /**
   * Marks pools that were sent at blocks which were replaced since the last message, so that they are sent again. Marks
   * all pools when these blocks are not known.
   *
   * @returns the lowest of these blocks; null when there are none, or the client gets a gap
   */
  #voidReplaced(): bigint | null {
    const from = this.#sentBranch.replacedFrom(this.source.latest.prices.branch);
    const sent = [...this.#held.values()].filter(({ version }) => version !== null);
    if (from === null || sent.length === 0) return null;
    const isGap = from === UNKNOWN_HEIGHT;
    if (isGap) this.#hasGap = true;
    for (const held of sent) if (held.sentAt >= from) held.version = isGap ? null : OUTDATED;
    return isGap ? null : from;
  }

  /** Pools whose latest quote the client was not sent. */
  #due(): PoolToSend[] {
    const due: PoolToSend[] = [...this.#unserved].map((pool) => ({ pool }));
    for (const [pool, held] of this.#held) {
      const quote = this.source.latest[held.kind].get(pool);
      if (quote && quote.version !== held.version) due.push({ pool, sent: held, quote });
    }
    return due;
  }

  /** Divides pools into messages as long as the client takes them, and notes these pools as sent. */
  *#parts(due: readonly PoolToSend[]) {
    for (const part of messageParts(due)) {
      if (this.#writer.isFull) return;
      for (const { pool, sent, quote } of part.pools) {
        this.#unserved.delete(pool);
        if (!sent || !quote) continue;
        sent.version = quote.version;
        sent.sentAt = this.#block()?.number ?? 0n;
      }
      yield part;
    }
  }

  #send(event: StreamEventName, fields: MessageFields, id?: string): void {
    const { latest, head } = this.source;
    this.#idleSecs = 0;
    this.#sentBranch = latest.prices.branch;
    this.#writer.send(event, this.#block() ?? latest.prices.block ?? head, fields, id);
  }

  /** The id of a message: empty unless the client has, with it, the quotes of all its pools at this block. */
  #id(): string {
    const block = this.#block();
    if (!block) return '';
    let basis = COMMITTED;
    for (const [pool, { kind, version }] of this.#held) {
      const latest = this.source.latest[kind];
      const quote = latest.get(pool);
      if (!quote || quote.version !== version || !isRead(quote)) return '';
      if (isLive(quote)) basis = latest.mark;
    }
    return writeMessageId(block, this.#poolSet.toString(36), basis);
  }

  /** The block of messages sent now; undefined while requested depths are not read at the block of the prices. */
  #block(): BlockRef | undefined {
    const { latest, head } = this.source;
    const { prices, depths } = latest;
    if (this.#held.size === 0) return prices.block ?? head;
    return this.hasDepth && depths.block?.hash !== prices.block?.hash ? undefined : prices.block;
  }

  #hold(pool: Address, kind: QuoteKind, version: number | null): void {
    this.#drop(pool);
    const release = this.source.requested.pin(pool, kind, this.hasKey);
    this.#held.set(pool, { kind, release, version, sentAt: 0n });
    this.#poolSet ^= numberOf(pool, kind);
  }

  #drop(pool: Address): void {
    this.#unserved.delete(pool);
    this.#removed.delete(pool);
    const held = this.#held.get(pool);
    if (!held) return;
    held.release();
    this.#held.delete(pool);
    this.#poolSet ^= numberOf(pool, held.kind);
  }

  /**
   * Resumes after the last message of another connection, maybe to another process or on another basis. Marks what the client
   * is not known to have as it is now, to be sent again. @returns false when the client has other pools
   */
  #resume(after: string, kind: QuoteKind): boolean {
    const id = readMessageId(after);
    if (id?.poolSet !== this.#poolSet.toString(36)) return false;
    const latest = this.source.latest[kind];
    const sent = latest.sentWith(id.hash, id.basis);
    for (const [pool, held] of this.#held) {
      const quote = latest.get(pool);
      held.version = quote && sent?.has(quote) ? quote.version : OUTDATED;
      held.sentAt = sent?.number ?? 0n;
    }
    return true;
  }
}

/** The number of a pool and kind. Different sets have the same XOR of numbers only by accident. */
const numberOf = (pool: Address, kind: QuoteKind): bigint =>
  2n * BigInt(`0x${pool.slice(-16)}`) + (kind === 'depths' ? 1n : 0n);
