import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';

/** Asks for heads: the first node that answers, or all of them. */
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
/** No node knows a block as high as the last one for this long: the chain was rolled back, we do not wait for more. */
const ROLLBACK_MS = 10_000;
const REMEMBERED_HEADS = 256;

/**
 * Tells the block to read at, looking at the chain when someone asks and at most every `minRefreshMs`.
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
  /** When the next look should be taken, and from when nobody is answered without it. */
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
    // Whoever needs the head once this one is stale waits for the same look, and sees its failure then.
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

  /** Someone read at this head: it is real. */
  confirm(head: H): void {
    this.#confirmed = head;
  }

  /** No node knew this head, or it was another chain's: goes back to the last that was read at, and looks again. */
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

  /** One node's head; when that is no news although a block is overdue, the highest head of all nodes. */
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
    // A block that was seen coming is as young as the time since the look before: the next one cannot be there much
    // before its time, so a slow chain is not asked all the while.
    const seenComing = askedAt - this.#lookedAt <= this.#minRefreshMs + GRACE_MS;
    const wait = seenComing ? Math.max(this.#minRefreshMs, this.#blockTimeMs - GRACE_MS) : this.#minRefreshMs;
    this.#waitUntil(askedAt + wait);
    this.#lookedAt = askedAt;
  }
}
