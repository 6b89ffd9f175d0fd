import type { Address } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';

/** Prices alone, or prices and depth: two reads with different results. */
export type QuoteKind = 'prices' | 'depths';

/** A pool that is to be read at each new block. */
export interface RequestedPool {
  readonly address: Address;
  readonly kind: QuoteKind;
  /** Whether a client with a key requests it. */
  readonly byKey: boolean;
}

export interface RequestedPoolsDeps {
  /** How long after a request its pools count as requested. */
  readonly warmMs: number;
  readonly now?: Clock;
}

/** How many subscriptions pin a pool, and until when it counts as requested without them. */
interface Request extends RequestedPool {
  pins: number;
  until: number;
}

/** The pools of one chain that clients request: within the last `warmMs`, or by subscriptions, which pin them. */
export class RequestedPools {
  readonly #warmMs: number;
  readonly #now: Clock;
  /** By key of the read and by whether clients with keys request it. */
  readonly #requests = new Map<string, Request>();
  readonly #listeners = new Set<() => void>();

  constructor({ warmMs, now = () => performance.now() }: RequestedPoolsDeps) {
    this.#warmMs = warmMs;
    this.#now = now;
  }

  /** Calls when a pool becomes requested that was not. */
  onRequested(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Notes pools that a client requests now. */
  markRequested(pools: readonly Pick<ServedPool, 'address'>[], kind: QuoteKind, byKey: boolean): void {
    if (this.#warmMs === 0) return;
    for (const { address } of pools) this.pin(address, kind, byKey)();
  }

  /** Keeps a pool requested until it is released, and `warmMs` longer. @returns releases it */
  pin(address: Address, kind: QuoteKind, byKey: boolean): () => void {
    const key = `${warmKey({ address, kind })}${byKey}`;
    const known = this.#requests.get(key);
    const request = known ?? { address, kind, byKey, pins: 0, until: 0 };
    const isNew = !known || !this.#isRequested(known);
    this.#requests.set(key, request);
    request.pins += 1;
    if (isNew) for (const listener of this.#listeners) listener();
    return () => {
      request.pins -= 1;
      request.until = this.#now() + this.#warmMs;
    };
  }

  /** All pools that are requested now. Forgets the others. */
  list(): RequestedPool[] {
    const requested = new Map<string, RequestedPool>();
    for (const [key, request] of this.#requests) {
      const { address, kind, byKey } = request;
      const read = warmKey(request);
      if (!this.#isRequested(request)) this.#requests.delete(key);
      else requested.set(read, { address, kind, byKey: byKey || requested.get(read)?.byKey === true });
    }
    return [...requested.values()];
  }

  #isRequested({ pins, until }: Request): boolean {
    return pins > 0 || until > this.#now();
  }
}

/** Names what is read of a requested pool. */
export const warmKey = ({ kind, address }: Pick<RequestedPool, 'kind' | 'address'>): string => `${kind}${address}`;
