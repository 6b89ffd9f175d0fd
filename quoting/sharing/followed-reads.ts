import type { Hex } from 'viem';
import type { BlockHeader } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { BeatMessage, ReadsMessage } from './messages.ts';

export interface FollowedReadsDeps {
  /** Takes the block of each message that comes in order. Must not throw. */
  readonly onHead: (block: BlockHeader) => void;
  readonly now?: Clock;
}

/** A leading process that says nothing for this long is gone. */
const SILENCE_MS = 1_000;
/** How long a read of the leading process is waited for, from the first message of its block. */
const MAX_WAIT_MS = 2_000;

/** What is known of the block. */
interface Known {
  /** By name, of the block or the one before. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Names whose values hold at the block. */
  readonly read: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
  readonly isOver: boolean;
}

const NOTHING: Known = { values: new Map(), read: new Set(), failed: new Set(), isOver: false };

/**
 * What the leading process of one chain published, applied in order.
 *
 * Invariants: a message of an older token changes nothing; a value is given only for the block at which it was read; after
 * a missed message nothing is given until one came that is whole.
 */
export class FollowedReads {
  readonly #onHead: FollowedReadsDeps['onHead'];
  readonly #now: Clock;
  #token = '0';
  #seq = 0;
  #isBehind = true;
  #heardAt = Number.NEGATIVE_INFINITY;
  #confirmed: Hex | null = null;
  #block: BlockHeader | undefined;
  #blockAt = 0;
  #known = NOTHING;
  readonly #waiting = new Set<() => void>();

  constructor({ onHead, now = () => performance.now() }: FollowedReadsDeps) {
    this.#onHead = onHead;
    this.#now = now;
  }

  /** The highest that was seen. */
  get token(): string {
    return this.#token;
  }

  /** Whether messages were missed: one that is whole is needed. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Head of the leading process; null while it is not followed or knows none. */
  get head(): Hex | null {
    return this.#isLive ? this.#confirmed : null;
  }

  /** Whether there is a leading process. */
  get isHeard(): boolean {
    return this.#now() - this.#heardAt < SILENCE_MS;
  }

  get #isLive(): boolean {
    return !this.#isBehind && this.isHeard;
  }

  take(message: BeatMessage | ReadsMessage): void {
    const order = BigInt(message.token) - BigInt(this.#token);
    if (order < 0n) return;
    if (order > 0n) this.begin(message.token);
    this.#heardAt = this.#now();
    if ('block' in message) this.#apply(message);
    else this.#takeBeat(message);
    this.#wake();
  }

  /** A value as it was read at this block; waits while it may come. Undefined: it will not. */
  async find(name: string, hash: Hex): Promise<unknown> {
    while (this.#isLive && this.#block?.hash === hash) {
      const { values, read, failed, isOver } = this.#known;
      if (read.has(name)) return values.get(name);
      if (failed.has(name) || isOver || !values.has(name)) return undefined;
      if (this.#now() - this.#blockAt > MAX_WAIT_MS) return undefined;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    return undefined;
  }

  /** To be called a few times a second: ends waits that last too long. */
  tick(): void {
    this.#wake();
  }

  /** Forgets what was followed: from now on messages of this token count, and of those that come after it. */
  begin(token: string): void {
    this.#token = token;
    this.#seq = 0;
    this.#isBehind = true;
    this.#confirmed = null;
    this.#block = undefined;
    this.#known = NOTHING;
    this.#wake();
  }

  #takeBeat({ seq, head }: BeatMessage): void {
    // Before its first message there is nothing to miss.
    this.#isBehind = seq === 0 ? false : this.#isBehind || seq !== this.#seq;
    this.#confirmed = head;
  }

  #apply({ seq, block, isWhole, isOver, isRead, except, failed, values }: ReadsMessage): void {
    this.#isBehind = !isWhole && (this.#isBehind || seq !== this.#seq + 1);
    if (this.#isBehind) return;
    const isNew = block.hash !== this.#block?.hash;
    const { read, values: before } = this.#known;
    const kept = isWhole ? [] : isNew ? [...before].filter(([name]) => read.has(name)) : before;
    const known = new Map([...kept, ...values]);
    const excepted = new Set(except);
    this.#known = {
      values: known,
      read: isRead ? new Set(known.keys()).difference(excepted) : excepted,
      failed: new Set(failed),
      isOver,
    };
    this.#seq = seq;
    this.#block = block;
    this.#confirmed = block.hash;
    if (!isNew) return;
    this.#blockAt = this.#now();
    this.#onHead(block);
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
