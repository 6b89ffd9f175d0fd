import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { SeenBlocks } from './seen-blocks.ts';

/** The head of the first node that answers, and the heads of all nodes that do. */
export interface HeadSource<H extends { readonly block: BlockRef }> {
  head(): Promise<H>;
  heads(): Promise<H[]>;
}

/** Must not throw. `replacedFrom`: the lowest height whose block is known to be replaced (a reorganisation), else null. */
export type HeadListener<H> = (head: H, replacedFrom: bigint | null) => void;

export interface BlockClockOptions {
  readonly blockTimeMs: number;
  /** Shortest time between two looks at the chain, and between two heads that are taken. */
  readonly minRefreshMs: number;
  readonly now?: Clock;
}

/** How long a head may be used without another look once the next block is due or the last look is `minRefreshMs` old. */
const GRACE_MS = 500;

/**
 * Tells the block to read at. Heads are pushed to it; without that it looks at the chain, at most every `minRefreshMs`, when
 * a request asks or while anyone watches.
 *
 * Invariants: a head is used for at most one block time and a second after a look or a push told it; heads are taken at least `minRefreshMs` apart, counted from when they were asked for or pushed,
 * unless nodes refused to read at the last one; the head never goes back to an older block unless the chain did, which shows
 * as another hash at a height that was seen before.
 */
export class BlockClock<H extends { readonly block: BlockRef }> {
  readonly #source: HeadSource<H>;
  readonly #blockTimeMs: number;
  readonly #minRefreshMs: number;
  readonly #now: Clock;
  readonly #seen = new SeenBlocks();
  readonly #listeners = new Set<HeadListener<H>>();
  #current: H | undefined;
  #confirmed: H | undefined;
  /** A newer head, to be taken when the current one is `minRefreshMs` old. */
  #next: { readonly head: H; readonly toldAt: number; readonly isPushed: boolean } | undefined;
  #replacedFrom: bigint | null = null;
  #takenAt = Number.NEGATIVE_INFINITY;
  /** When the next look should be taken, and from when on requests wait for it. */
  #dueAt = 0;
  #staleAt = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #look: Promise<H> | undefined;
  #watchers = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: HeadSource<H>, options: BlockClockOptions) {
    const { blockTimeMs, minRefreshMs, now = () => performance.now() } = options;
    this.#source = source;
    this.#blockTimeMs = blockTimeMs;
    this.#minRefreshMs = minRefreshMs;
    this.#now = now;
  }

  /** The last head known, however old. */
  get current(): H | undefined {
    return this.#current;
  }

  /** The head if it is fresh. Never starts a look. */
  get known(): H | undefined {
    return this.#now() < this.#staleAt ? this.#current : undefined;
  }

  /** The head if it is fresh enough to be used without waiting. Starts a look in the background when one is due. */
  fresh(): H | undefined {
    const now = this.#now();
    this.#takeNext(now);
    if (!this.#current || now >= this.#staleAt) return undefined;
    // Requests that come once this head is stale wait for the same look, and see its failure.
    if (now >= this.#dueAt) this.#startLook().catch(() => undefined);
    return this.#current;
  }

  /**
   * The head to read at.
   *
   * @throws what the source throws when no node answers
   */
  async head(): Promise<H> {
    return this.fresh() ?? this.#startLook();
  }

  /**
   * Called for every head that is taken.
   *
   * @returns ends it
   */
  onHead(listener: HeadListener<H>): () => void {
    const own: HeadListener<H> = (head, replacedFrom) => listener(head, replacedFrom);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /**
   * While anyone watches, heads are seen without a request: the clock looks whenever a look is due, and goes on after
   * failures.
   *
   * @returns ends it
   */
  watch(): () => void {
    this.#watchers += 1;
    this.#schedule();
    let isWatching = true;
    return () => {
      if (isWatching) this.#watchers -= 1;
      isWatching = false;
      this.#schedule();
    };
  }

  /** A head that was pushed by a socket. It is judged as one that was looked up, and spares looks while more come. */
  push(head: H): void {
    const now = this.#now();
    if (head.block.hash === this.#current?.block.hash) {
      this.#waitUntil(Math.max(this.#dueAt, this.#takenAt + this.#pushedForMs));
    }
    this.#offer(head, now, true);
    this.#takeNext(now);
    this.#schedule();
  }

  /** A read at this head succeeded: nodes know it. */
  confirm(head: H): void {
    if (head.block.hash === this.#current?.block.hash) this.#confirmed = this.#current;
  }

  /** Nodes refused to read at this head: goes back to the last one that was read at, and looks again. */
  reject(head: H): void {
    const { hash } = head.block;
    if (this.#current?.block.hash !== hash) return;
    this.#current = this.#confirmed?.block.hash === hash ? undefined : this.#confirmed;
    this.#takenAt = Number.NEGATIVE_INFINITY;
    this.#dueAt = 0;
    this.#staleAt = 0;
    this.#schedule();
  }

  #startLook(): Promise<H> {
    this.#look ??= this.#takeLook().finally(() => {
      this.#look = undefined;
      this.#schedule();
    });
    return this.#look;
  }

  async #takeLook(): Promise<H> {
    const askedAt = this.#now();
    this.#askedAt = askedAt;
    const candidate = await this.#candidate(askedAt);
    this.#offer(candidate, askedAt, false);
    if (!this.#takeNext(askedAt)) this.#waitUntil(Math.max(this.#dueAt, askedAt + this.#minRefreshMs));
    this.#lookedAt = askedAt;
    return this.#current ?? candidate;
  }

  /** One node's head; when it is not newer although a block is overdue, the highest head of all nodes. */
  async #candidate(askedAt: number): Promise<H> {
    const first = await this.#source.head();
    const current = this.#current;
    const overdue = askedAt > this.#takenAt + this.#blockTimeMs + GRACE_MS;
    if (!current || !overdue || first.block.number > current.block.number) return first;
    const all = await this.#source.heads();
    return all.reduce((best, head) => (head.block.number > best.block.number ? head : best), first);
  }

  /** Keeps a head to be taken if it replaces the last one that was seen. */
  #offer(head: H, now: number, isPushed: boolean): void {
    const last = this.#next?.head ?? this.#current;
    const isNewer = !last || this.#seen.isAfter(last.block, head.block);
    // A socket of a node that lags is no sign that the chain was rolled back.
    if (!isNewer && (isPushed || !this.#seen.isRolledBack(last.block, head.block, now))) return;
    const replacedFrom = this.#seen.add(head.block);
    if (replacedFrom !== null && (this.#replacedFrom === null || replacedFrom < this.#replacedFrom)) {
      this.#replacedFrom = replacedFrom;
    }
    this.#next = { head, toldAt: now, isPushed };
  }

  /** Takes the next head if it is time to. */
  #takeNext(now: number): boolean {
    const next = this.#next;
    if (!next || (this.#current && now < this.#takenAt + this.#minRefreshMs)) return false;
    this.#next = undefined;
    this.#current = next.head;
    this.#takenAt = now;
    this.#waitUntil(next.toldAt + (next.isPushed ? this.#pushedForMs : this.#lookedUpForMs(next.toldAt)));
    const replacedFrom = this.#replacedFrom;
    this.#replacedFrom = null;
    for (const listener of this.#listeners) listener(next.head, replacedFrom);
    return true;
  }

  get #pushedForMs(): number {
    return Math.max(this.#minRefreshMs, this.#blockTimeMs + GRACE_MS);
  }

  #lookedUpForMs(askedAt: number): number {
    // When the look before was recent, so is the block, and the next one is not due before a block time: a slow chain is
    // not asked meanwhile.
    const seenComing = askedAt - this.#lookedAt <= this.#minRefreshMs + GRACE_MS;
    return seenComing ? Math.max(this.#minRefreshMs, this.#blockTimeMs - GRACE_MS) : this.#minRefreshMs;
  }

  #waitUntil(dueAt: number): void {
    this.#dueAt = dueAt;
    this.#staleAt = dueAt + GRACE_MS;
  }

  /** Sets the timer of the watchers: for the next head, or the next look. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#watchers === 0) return;
    const lookAt = Math.max(this.#dueAt, this.#askedAt + this.#minRefreshMs);
    const at = this.#next ? Math.min(lookAt, this.#takenAt + this.#minRefreshMs) : lookAt;
    this.#timer = setTimeout(() => this.#wake(lookAt), Math.max(0, Math.ceil(at - this.#now()))).unref();
  }

  #wake(lookAt: number): void {
    const now = this.#now();
    this.#takeNext(now);
    // The failure of a look is seen by who asks; the next one comes as if it had succeeded.
    if (now >= lookAt && now >= this.#dueAt) this.#startLook().catch(() => undefined);
    else this.#schedule();
  }
}
