import type { Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import { SnapshotError } from '../snapshot-error.ts';
import { ChainTail, MAX_LOOK_BACK } from './chain-tail.ts';

/** The head of the first node that answers, and the heads of all nodes that do. */
export interface HeadSource<H extends { readonly block: BlockHeader }> {
  head(): Promise<H>;
  heads(): Promise<H[]>;
  /** A block below a head. */
  header(hash: Hex, number: bigint): Promise<BlockHeader>;
}

/**
 * Must not throw. The parents of the head reach down to the block that it shares with the head before, as far as that is near.
 *
 * @param branch the head and the blocks below it: tells which blocks of an earlier branch were replaced
 */
export type HeadListener<H> = (head: H, branch: ChainTail) => void;

export interface HeadTrackerOptions {
  readonly blockTimeMs: number;
  /** Shortest time between two looks at the chain, and between two heads that are taken. */
  readonly minRefreshMs: number;
  /** A block that is older than this is not used, whoever tells it. Default: any is used. */
  readonly maxAgeMs?: number;
  readonly now?: Clock;
  /** Unix milliseconds. */
  readonly wallClock?: Clock;
}

/** How long a head may be used without another look once the next block is due or the last look is `minRefreshMs` old. */
const GRACE_MS = 500;
/** Timestamps of blocks count whole seconds. */
const TIMESTAMP_MS = 1_000;
/** When no node knows a block as high as the last one for this long, the chain counts as rolled back. */
const ROLLBACK_MS = 10_000;
/** How late a watcher may be. */
const TICK_MS = 25;

/**
 * Reports the block to read at. Heads are pushed to it; without that it looks at the chain, at most every `minRefreshMs`, when
 * a request asks or while anyone watches.
 *
 * Invariants: a head is used for at most one block time and a second after a look or a push told it; heads are taken at least `minRefreshMs` apart, counted from when they were asked for or pushed,
 * unless nodes refused to read at the last one; the head never goes back to an older block unless the chain did, which shows
 * as another hash at a height that was seen before; a head is taken once it is known, by parent hashes, what it replaces; a
 * block that is older than `maxAgeMs` is never given.
 */
export class HeadTracker<H extends { readonly block: BlockHeader }> {
  readonly #source: HeadSource<H>;
  readonly #blockTimeMs: number;
  readonly #minRefreshMs: number;
  readonly #maxAgeMs: number;
  readonly #now: Clock;
  readonly #wallClock: Clock;
  /** The branch of the last head that was seen, and of the last one that was taken. */
  #seen = ChainTail.EMPTY;
  #taken = ChainTail.EMPTY;
  readonly #listeners = new Set<HeadListener<H>>();
  #current: H | undefined;
  /** The one before. */
  #previous: H | undefined;
  /** A newer head, to be taken when the current one is `minRefreshMs` old. */
  #next: { readonly head: H; readonly dueAt: number } | undefined;
  /** Resolves when heads whose parents are looked up are judged: others wait for them. */
  #lookBack: Promise<void> | undefined;
  #behindSince: number | undefined;
  #takenAt = Number.NEGATIVE_INFINITY;
  /** When the next look should be taken; requests wait for it `GRACE_MS` later. */
  #dueAt = Number.NEGATIVE_INFINITY;
  #polledAt = Number.NEGATIVE_INFINITY;
  #lastPollAt = Number.NEGATIVE_INFINITY;
  readonly #startPoll = cacheResult(() => this.#pollHead(), 0);

  constructor(source: HeadSource<H>, options: HeadTrackerOptions) {
    const { blockTimeMs, minRefreshMs, now = () => performance.now(), wallClock = Date.now } = options;
    this.#source = source;
    this.#blockTimeMs = blockTimeMs;
    this.#minRefreshMs = minRefreshMs;
    this.#maxAgeMs = options.maxAgeMs ?? Number.POSITIVE_INFINITY;
    this.#now = now;
    this.#wallClock = wallClock;
  }

  /** The last head known, however old. */
  get current(): H | undefined {
    return this.#current;
  }

  /** The head that nodes gave a moment ago, however old its block is: they may stand still. Never starts a look. */
  get told(): H | undefined {
    return this.#now() < this.#dueAt + GRACE_MS ? this.#current : undefined;
  }

  /** The head if it is fresh. Never starts a look. */
  get known(): H | undefined {
    const { told } = this;
    return told && !this.isTooOld(told.block) ? told : undefined;
  }

  /** Whether a block is too old, by wall-clock time, for a quote to be given now. */
  isTooOld(block: BlockRef): boolean {
    return this.#ageMs(block) > this.#maxAgeMs;
  }

  /** The head if it is fresh enough to be used without waiting. Starts a look in the background when one is due. */
  fresh(): H | undefined {
    const now = this.#now();
    this.#takeNext(now);
    // Requests that come once this head is stale wait for the same look, and see its failure.
    if (this.known && now >= this.#dueAt) this.#startPoll().catch(() => undefined);
    return this.known;
  }

  /**
   * The head to read at.
   *
   * @throws what the source throws when no node answers, and SnapshotError when the newest block is too old
   */
  async head(): Promise<H> {
    const fresh = this.fresh();
    if (fresh) return fresh;
    // Where nodes stand still, requests do not make looks more frequent.
    const isLookDue = !this.told || this.#now() >= this.#dueAt;
    const head = isLookDue ? await this.#startPoll() : this.#current;
    if (head && !this.isTooOld(head.block)) return head;
    throw new SnapshotError('unavailable', 'the newest block is too old');
  }

  /** Calls for every head that is taken. */
  onHead(listener: HeadListener<H>): void {
    this.#listeners.add(listener);
  }

  /**
   * Until it is ended, heads are seen without a request: it looks whenever a look is due, and continues after failures.
   *
   * @returns ends it
   */
  watch(): () => void {
    const timer = setInterval(() => this.#tick(), TICK_MS).unref();
    return () => clearInterval(timer);
  }

  /** A head that was pushed by a socket. It is judged as one that was looked up, and spares looks while more come. */
  push(head: H): void {
    const now = this.#now();
    // One that waited in a socket, as of a process that was paused, is used for less long, or not at all.
    const lateMs = Math.max(0, this.#ageMs(head.block) - this.#blockTimeMs - TIMESTAMP_MS);
    const usedForMs = Math.max(this.#minRefreshMs, this.#blockTimeMs + GRACE_MS) - lateMs;
    if (usedForMs <= 0) return;
    if (head.block.hash === this.#current?.block.hash) this.#dueAt = Math.max(this.#dueAt, this.#takenAt + usedForMs);
    // A socket of a node that lags is no sign that the chain was rolled back.
    void this.#judge(head, now + usedForMs, () => this.#isNewer(head));
    this.#takeNext(now);
  }

  /** As {@link push}, of another process: its node may be on another branch, so that it never replaces a head as high. */
  pushHigher(head: H): void {
    if (head.block.number > (this.#current?.block.number ?? -1n)) this.push(head);
  }

  /** Nodes refused to read at this head: goes back to the one before, and looks again. */
  reject({ block: { hash } }: H): void {
    if (this.#current?.block.hash !== hash) return;
    this.#current = this.#previous;
    this.#takenAt = Number.NEGATIVE_INFINITY;
    this.#dueAt = Number.NEGATIVE_INFINITY;
  }

  #ageMs({ timestamp }: BlockRef): number {
    return this.#wallClock() - Number(timestamp) * 1_000;
  }

  #tick(): void {
    const now = this.#now();
    this.#takeNext(now);
    // The failure of a look is seen by who asks; the next one comes as if it had succeeded.
    if (now >= Math.max(this.#dueAt, this.#polledAt + this.#minRefreshMs)) this.#startPoll().catch(() => undefined);
  }

  async #pollHead(): Promise<H> {
    const polledAt = this.#now();
    this.#polledAt = polledAt;
    const candidate = await this.#candidate(polledAt);
    const isRolledBack = this.#isRolledBack(candidate, polledAt);
    const isWanted = () => isRolledBack || this.#isNewer(candidate);
    await this.#judge(candidate, polledAt + this.#pollMs(polledAt), isWanted);
    if (!this.#takeNext(polledAt)) this.#dueAt = Math.max(this.#dueAt, polledAt + this.#minRefreshMs);
    this.#lastPollAt = polledAt;
    return this.#current ?? candidate;
  }

  /** One node's head; when it is not newer although a block is overdue, the highest head of all nodes. */
  async #candidate(polledAt: number): Promise<H> {
    const first = await this.#source.head();
    const current = this.#current;
    const overdue = polledAt > this.#takenAt + this.#blockTimeMs + GRACE_MS;
    if (!current || !overdue || first.block.number > current.block.number) return first;
    const all = await this.#source.heads();
    return all.reduce((best, head) => (head.block.number > best.block.number ? head : best), first);
  }

  /** The last one that was seen. */
  get #last(): H | undefined {
    return this.#next?.head ?? this.#current;
  }

  /** Whether it is higher than the last one, or replaces one that was seen. */
  #isNewer({ block }: H): boolean {
    const last = this.#last?.block;
    // The last one may be one to which the head went back, on another branch than what was seen.
    const isOther = block.number === last?.number && block.hash !== last.hash;
    return !last || block.number > last.number || isOther || this.#seen.hasOther(block);
  }

  /** Whether nodes that were asked have known no block as high as the last one for long. */
  #isRolledBack({ block }: H, now: number): boolean {
    const last = this.#last?.block;
    if (!last || block.number >= last.number) this.#behindSince = undefined;
    else this.#behindSince ??= now;
    return this.#behindSince !== undefined && now - this.#behindSince >= ROLLBACK_MS;
  }

  /** Keeps a head that is wanted: at once when its parent was seen, else when the block that both branches share is found. */
  #judge(head: H, dueAt: number, isWanted: () => boolean): Promise<void> | undefined {
    if (!this.#lookBack && (!isWanted() || this.#seen.meets(head.block))) {
      if (isWanted()) this.#offer(head, dueAt);
      return undefined;
    }
    const judged = this.#judgeAfter(this.#lookBack, head, dueAt, isWanted).finally(() => {
      if (this.#lookBack === judged) this.#lookBack = undefined;
    });
    this.#lookBack = judged;
    return judged;
  }

  async #judgeAfter(others: Promise<void> | undefined, head: H, dueAt: number, isWanted: () => boolean): Promise<void> {
    await others;
    if (!isWanted()) return;
    this.#offer({ ...head, block: await this.#withParents(head.block) }, dueAt);
    this.#takeNext(this.#now());
  }

  /** Adds hashes of parents down to a block that was seen, as far as nodes tell them. */
  async #withParents(block: BlockHeader): Promise<BlockHeader> {
    if (block.number - this.#seen.top > MAX_LOOK_BACK) return block;
    const parents = [...block.parents];
    while (!this.#seen.meets({ ...block, parents }) && parents.length < MAX_LOOK_BACK) {
      const parent = parents.at(-1) as Hex;
      // What cannot be looked up counts as too far away, which listeners see.
      const below = await this.#source.header(parent, block.number - BigInt(parents.length)).catch(() => undefined);
      if (!below) break;
      parents.push(...below.parents);
    }
    return { ...block, parents };
  }

  /** Keeps a head to be taken in place of the last one that was seen. @param dueAt when a look should follow */
  #offer(head: H, dueAt: number): void {
    this.#behindSince = undefined;
    this.#seen = this.#seen.endingWith(head.block);
    this.#next = { head, dueAt };
  }

  /** Takes the next head if it is time to. */
  #takeNext(now: number): boolean {
    const next = this.#next;
    if (!next || (this.#current && now < this.#takenAt + this.#minRefreshMs)) return false;
    this.#next = undefined;
    this.#previous = this.#current;
    const branch = this.#seen;
    const head = { ...next.head, block: { ...next.head.block, parents: branch.parentsSince(this.#taken) } };
    this.#taken = branch;
    this.#current = head;
    this.#takenAt = now;
    this.#dueAt = next.dueAt;
    for (const listener of this.#listeners) listener(head, branch);
    return true;
  }

  #pollMs(polledAt: number): number {
    // When the look before was recent, so is the block, and the next one is not due before a block time: a slow chain is
    // not asked meanwhile.
    const seenComing = polledAt - this.#lastPollAt <= this.#minRefreshMs + GRACE_MS;
    return seenComing ? Math.max(this.#minRefreshMs, this.#blockTimeMs - GRACE_MS) : this.#minRefreshMs;
  }
}
