import type { Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import { BlockTooOldError } from '../snapshot-error.ts';
import { ChainTail, MAX_LOOK_BACK } from './chain-tail.ts';

/** Gives the head of the first node that answers, or the heads of all nodes that do. */
export interface HeadSource<H extends { readonly block: BlockHeader }> {
  head(): Promise<H>;
  heads(): Promise<H[]>;
  /** A block below a head. */
  header(hash: Hex, number: bigint): Promise<BlockHeader>;
}

/**
 * Takes a new head; must not throw. The head's parents reach down to the block that it shares with the previous head,
 * if that block is near.
 *
 * @param branch the head and the blocks below it, from which follows which blocks of an earlier branch were replaced
 */
export type HeadListener<H> = (head: H, branch: ChainTail) => void;

export interface HeadTrackerOptions {
  readonly blockTimeMs: number;
  /** Shortest time between two polls, and between two heads that are taken. */
  readonly minRefreshMs: number;
  /** A block that is older than this is not used, whatever its source. Default: any is used. */
  readonly maxAgeMs?: number;
  readonly now?: Clock;
  /** Unix milliseconds. */
  readonly wallClock?: Clock;
}

/** How long a head may be used without another poll, once the next poll is due. */
const GRACE_MS = 500;
/** Timestamps of blocks count whole seconds. */
const TIMESTAMP_MS = 1_000;
/** When no node knows a block as high as the last one for this long, the chain counts as rolled back. */
const ROLLBACK_MS = 10_000;
/** How often a watched tracker checks what is due. */
const TICK_MS = 25;

/**
 * Gives the block to read at. Nodes push heads to it. Without pushes it polls the chain, at most every `minRefreshMs`,
 * when a request asks or while anyone watches.
 *
 * Invariants:
 * 1. A head is used for at most one block time and a second after a poll or a push reported it.
 * 2. Heads are taken at least `minRefreshMs` apart, counted from the start of the poll or from the push, unless nodes
 *    refused to read at the last one.
 * 3. The head never goes back to an older block unless the chain did, which shows as another hash at a known height.
 * 4. A head is taken once parent hashes show what it replaces.
 * 5. A block that is older than `maxAgeMs` is never given to read at.
 */
export class HeadTracker<H extends { readonly block: BlockHeader }> {
  readonly #source: HeadSource<H>;
  readonly #blockTimeMs: number;
  readonly #minRefreshMs: number;
  readonly #maxAgeMs: number;
  readonly #now: Clock;
  readonly #wallClock: Clock;
  /** The branches of the last head that was seen, and of the last head that was taken. */
  #seen = ChainTail.EMPTY;
  #taken = ChainTail.EMPTY;
  readonly #listeners = new Set<HeadListener<H>>();
  #current: H | undefined;
  /** The head before the current one. */
  #previous: H | undefined;
  /** A newer head, to be taken when the current one is `minRefreshMs` old. */
  #next: { readonly head: H; readonly dueAt: number } | undefined;
  /** Resolves when heads whose parents are being looked up are judged. Later heads wait for it. */
  #lookBack: Promise<void> | undefined;
  #behindSince: number | undefined;
  #takenAt = Number.NEGATIVE_INFINITY;
  /** When the next poll is due. Requests wait for that poll only from `GRACE_MS` later on. */
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

  /** Height of the last block that was seen, even if it is not taken yet. */
  get top(): bigint {
    return this.#seen.top;
  }

  /** The head that nodes reported recently, however old its block is: nodes may stand still. Never starts a poll. */
  get told(): H | undefined {
    return this.#now() < this.#dueAt + GRACE_MS ? this.#current : undefined;
  }

  /** The head if it is fresh. Never starts a poll. */
  get known(): H | undefined {
    const { told } = this;
    return told && !this.isTooOld(told.block) ? told : undefined;
  }

  /** Whether a block is too old, by wall-clock time, for a quote to be given now. */
  isTooOld(block: BlockRef): boolean {
    return this.#ageMs(block) > this.#maxAgeMs;
  }

  /** The head if it is fresh enough to be used without waiting. Starts a poll in the background when one is due. */
  fresh(): H | undefined {
    const now = this.#now();
    this.#takeNext(now);
    // Requests that come once this head is stale wait for the same poll, and see its failure.
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
    // Where nodes stand still, requests do not make polls more frequent.
    const isPollDue = !this.told || this.#now() >= this.#dueAt;
    const head = isPollDue ? await this.#startPoll() : this.#current;
    if (head && !this.isTooOld(head.block)) return head;
    throw new BlockTooOldError('the newest block is too old');
  }

  /** Calls the listener for every head that is taken. */
  onHead(listener: HeadListener<H>): void {
    this.#listeners.add(listener);
  }

  /**
   * Sees heads without a request: polls whenever a poll is due, and continues after failures.
   *
   * @returns ends the watch
   */
  watch(): () => void {
    const timer = setInterval(() => this.#tick(), TICK_MS).unref();
    return () => clearInterval(timer);
  }

  /** Takes a head that a socket pushed. It is judged like a polled head, and no poll is due while more are pushed. */
  push(head: H): void {
    const now = this.#now();
    // A head that waited in its socket, as when the process was paused, is used for a shorter time or not at all.
    const lateMs = Math.max(0, this.#ageMs(head.block) - this.#blockTimeMs - TIMESTAMP_MS);
    const usedForMs = Math.max(this.#minRefreshMs, this.#blockTimeMs + GRACE_MS) - lateMs;
    if (usedForMs <= 0) return;
    if (head.block.hash === this.#current?.block.hash) this.#dueAt = Math.max(this.#dueAt, this.#takenAt + usedForMs);
    // A lower head is not a sign that the chain was rolled back: the node of the socket may lag.
    void this.#judge(head, now + usedForMs, () => this.#isNewer(head));
    this.#takeNext(now);
  }

  /** Takes a head of another process, as {@link push} does, if it is higher: that process may be on another branch. */
  pushHigher(head: H): void {
    if (head.block.number > (this.#current?.block.number ?? -1n)) this.push(head);
  }

  /** Goes back to the previous head and makes a poll due, because nodes refused to read at this head. */
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
    // Requests see the failure of a poll. The next poll comes as if this one had succeeded.
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

  /** Polls one node. If its head is not higher although a block is overdue, polls all nodes for the highest head. */
  async #candidate(polledAt: number): Promise<H> {
    const first = await this.#source.head();
    const current = this.#current;
    const overdue = polledAt > this.#takenAt + this.#blockTimeMs + GRACE_MS;
    if (!current || !overdue || first.block.number > current.block.number) return first;
    const all = await this.#source.heads();
    return all.reduce((best, head) => (head.block.number > best.block.number ? head : best), first);
  }

  /** The last head that was seen and is wanted. */
  get #last(): H | undefined {
    return this.#next?.head ?? this.#current;
  }

  /** Whether a head is higher than the last one, or replaces a block that was seen. */
  #isNewer({ block }: H): boolean {
    const last = this.#last?.block;
    // The tracker may have gone back to the last head, which can be on another branch than the blocks that were seen.
    const isOther = block.number === last?.number && block.hash !== last.hash;
    return !last || block.number > last.number || isOther || this.#seen.hasOther(block);
  }

  /** Whether no poll has found a block as high as the last head for `ROLLBACK_MS`. */
  #isRolledBack({ block }: H, now: number): boolean {
    const last = this.#last?.block;
    if (!last || block.number >= last.number) this.#behindSince = undefined;
    else this.#behindSince ??= now;
    return this.#behindSince !== undefined && now - this.#behindSince >= ROLLBACK_MS;
  }

  /** Keeps a head if it is wanted: at once when its parent was seen, else after a search for a parent that was. */
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

  /** Adds hashes of parents down to a block that was seen, as far as nodes give them. */
  async #withParents(block: BlockHeader): Promise<BlockHeader> {
    if (block.number - this.#seen.top > MAX_LOOK_BACK) return block;
    const parents = [...block.parents];
    while (!this.#seen.meets({ ...block, parents }) && parents.length < MAX_LOOK_BACK) {
      const parent = parents.at(-1) as Hex;
      // If a parent cannot be looked up, the shared block counts as too far away, which listeners see.
      const below = await this.#source.header(parent, block.number - BigInt(parents.length)).catch(() => undefined);
      if (!below) break;
      parents.push(...below.parents);
    }
    return { ...block, parents };
  }

  /** Keeps a head as the next one to take, in place of any other. @param dueAt when the poll after it is due */
  #offer(head: H, dueAt: number): void {
    this.#behindSince = undefined;
    this.#seen = this.#seen.endingWith(head.block);
    this.#next = { head, dueAt };
  }

  /** Takes the next head if it is time to. @returns whether it did */
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
    // After a recent poll, a new block is recent as well. The next block is then due a block time later, and a slow
    // chain is not polled until then.
    const seenComing = polledAt - this.#lastPollAt <= this.#minRefreshMs + GRACE_MS;
    return seenComing ? Math.max(this.#minRefreshMs, this.#blockTimeMs - GRACE_MS) : this.#minRefreshMs;
  }
}
