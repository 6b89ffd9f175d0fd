import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';

/** The head of the first node that answers, and the heads of all nodes that do. */
export interface HeadSource<H extends { readonly block: BlockRef }> {
  head(): Promise<H>;
  heads(): Promise<H[]>;
}

export interface BlockClockOptions {
  readonly blockTimeMs: number;
  /** Shortest time between two looks at the chain. */
  readonly minRefreshMs: number;
  readonly now?: Clock;
}

/** How long a head may be used without another look once the next block is due or the last look is `minRefreshMs` old. */
const GRACE_MS = 500;
/** When no node knows a block as high as the last one for this long, the chain counts as rolled back. */
const ROLLBACK_MS = 10_000;
const REMEMBERED_HEADS = 256;

/**
 * Tells the block to read at. It looks at the chain when a request asks, at most every `minRefreshMs`.
 *
 * Invariants: a head is used for at most one block time and a second after it was first seen; it never goes back to an
 * older block unless the chain did, which shows as another hash at a height that was seen before.
 */
export class BlockClock<H extends { readonly block: BlockRef }> {
  readonly #source: HeadSource<H>;
  readonly #blockTimeMs: number;
  readonly #minRefreshMs: number;
  readonly #now: Clock;
  readonly #seen = new Map<bigint, string>();
  #current: H | undefined;
  #confirmed: H | undefined;
  /** When the next look should be taken, and from when on requests wait for it. */
  #dueAt = 0;
  #staleAt = 0;
  #firstSeenAt = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #behindSince: number | undefined;
  #look: Promise<H> | undefined;

  constructor(source: HeadSource<H>, { blockTimeMs, minRefreshMs, now = () => performance.now() }: BlockClockOptions) {
    this.#source = source;
    this.#blockTimeMs = blockTimeMs;
    this.#minRefreshMs = minRefreshMs;
    this.#now = now;
  }

  /** The last head known, however old. */
  get current(): H | undefined {
    return this.#current;
  }

  /** The head if it is fresh enough to be used without waiting. Starts a look in the background when one is due. */
  fresh(): H | undefined {
    const now = this.#now();
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

  /** A read at this head succeeded: nodes know it. */
  confirm(head: H): void {
    this.#confirmed = head;
  }

  /** Nodes refused to read at this head: goes back to the last one that was read at, and looks again. */
  reject(head: H): void {
    if (this.#current !== head) return;
    this.#seen.delete(head.block.number);
    this.#current = this.#confirmed === head ? undefined : this.#confirmed;
    this.#staleAt = 0;
  }

  #startLook(): Promise<H> {
    this.#look ??= this.#takeLook().finally(() => {
      this.#look = undefined;
    });
    return this.#look;
  }

  async #takeLook(): Promise<H> {
    const askedAt = this.#now();
    const candidate = await this.#candidate(askedAt);
    const current = this.#current;
    if (!current || this.#replaces(current.block, candidate.block, askedAt)) {
      this.#accept(candidate, askedAt);
      return candidate;
    }
    this.#waitUntil(askedAt + this.#minRefreshMs);
    this.#lookedAt = askedAt;
    return current;
  }

  #waitUntil(dueAt: number): void {
    this.#dueAt = dueAt;
    this.#staleAt = dueAt + GRACE_MS;
  }

  /** One node's head; when it is not newer although a block is overdue, the highest head of all nodes. */
  async #candidate(askedAt: number): Promise<H> {
    const first = await this.#source.head();
    const current = this.#current;
    const overdue = askedAt > this.#firstSeenAt + this.#blockTimeMs + GRACE_MS;
    if (!current || !overdue || first.block.number > current.block.number) return first;
    const all = await this.#source.heads();
    return all.reduce((best, head) => (head.block.number > best.block.number ? head : best), first);
  }

  #replaces(current: BlockRef, candidate: BlockRef, now: number): boolean {
    if (candidate.number > current.number) return true;
    const known = this.#seen.get(candidate.number);
    if (known !== undefined && known !== candidate.hash) return true;
    if (candidate.number === current.number) {
      this.#behindSince = undefined;
      return false;
    }
    this.#behindSince ??= now;
    return now - this.#behindSince >= ROLLBACK_MS;
  }

  #accept(head: H, askedAt: number): void {
    for (const number of this.#seen.keys()) if (number > head.block.number) this.#seen.delete(number);
    this.#seen.set(head.block.number, head.block.hash);
    const oldest = this.#seen.keys().next().value;
    if (this.#seen.size > REMEMBERED_HEADS && oldest !== undefined) this.#seen.delete(oldest);
    this.#current = head;
    this.#behindSince = undefined;
    this.#firstSeenAt = askedAt;
    // When the look before was recent, so is the block, and the next one is not due before a block time: a slow chain is
    // not asked meanwhile.
    const seenComing = askedAt - this.#lookedAt <= this.#minRefreshMs + GRACE_MS;
    const wait = seenComing ? Math.max(this.#minRefreshMs, this.#blockTimeMs - GRACE_MS) : this.#minRefreshMs;
    this.#waitUntil(askedAt + wait);
    this.#lookedAt = askedAt;
  }
}
