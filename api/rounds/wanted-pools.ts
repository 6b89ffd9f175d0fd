import type { Address } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';

/** Prices alone, or prices and depth: two reads with different answers. */
export type QuoteKind = 'prices' | 'depths';

/** A pool that is to be read at each new block. */
export interface WantedPool {
  readonly address: Address;
  readonly kind: QuoteKind;
  /** Whether a client with a key wants it. */
  readonly byKey: boolean;
}

export interface WantedPoolsDeps {
  /** How long after a request its pools are wanted. */
  readonly warmMs: number;
  readonly now?: Clock;
}

/** By whom a pool is wanted: how many hold it, and until when it was asked for. */
interface Wants {
  holds: number;
  until: number;
}

const IDLE: Wants = { holds: 0, until: Number.NEGATIVE_INFINITY };

interface Entry {
  readonly address: Address;
  readonly kind: QuoteKind;
  readonly withKey: Wants;
  readonly withoutKey: Wants;
}

/** The pools of one chain that clients want: asked for within `warmMs`, or held by subscriptions. */
export class WantedPools {
  readonly #warmMs: number;
  readonly #now: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();

  constructor({ warmMs, now = () => performance.now() }: WantedPoolsDeps) {
    this.#warmMs = warmMs;
    this.#now = now;
  }

  /** Calls when something becomes wanted that was not. */
  onWanted(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Clients asked for these pools just now. */
  asked(pools: readonly Pick<ServedPool, 'address'>[], kind: QuoteKind, hasKey: boolean): void {
    if (this.#warmMs === 0) return;
    for (const { address } of pools) {
      const wants = wantsOf(this.#entry(address, kind), hasKey);
      const isNew = !this.#isWanted(wants);
      wants.until = this.#now() + this.#warmMs;
      if (isNew) this.#tell();
    }
  }

  /** Wants a pool until it is released, and `warmMs` longer. @returns releases it */
  hold(address: Address, kind: QuoteKind, hasKey: boolean): () => void {
    const wants = wantsOf(this.#entry(address, kind), hasKey);
    const isNew = !this.#isWanted(wants);
    wants.holds += 1;
    if (isNew) this.#tell();
    return () => {
      wants.holds -= 1;
      wants.until = this.#now() + this.#warmMs;
    };
  }

  /** All that is wanted now. Forgets what no longer is. */
  list(): WantedPool[] {
    const wanted: WantedPool[] = [];
    for (const [key, { address, kind, withKey, withoutKey }] of this.#entries) {
      const byKey = this.#isWanted(withKey);
      if (byKey || this.#isWanted(withoutKey)) wanted.push({ address, kind, byKey });
      else this.#entries.delete(key);
    }
    return wanted;
  }

  #isWanted({ holds, until }: Wants): boolean {
    return holds > 0 || until > this.#now();
  }

  #entry(address: Address, kind: QuoteKind): Entry {
    const key = wantKey({ address, kind });
    const known = this.#entries.get(key);
    if (known) return known;
    const entry = { address, kind, withKey: { ...IDLE }, withoutKey: { ...IDLE } };
    this.#entries.set(key, entry);
    return entry;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Names what is wanted of a pool. */
export const wantKey = ({ kind, address }: Pick<WantedPool, 'kind' | 'address'>): string => `${kind}${address}`;

const wantsOf = ({ withKey, withoutKey }: Entry, hasKey: boolean): Wants => (hasKey ? withKey : withoutKey);
