import type { Address } from 'viem';
import type { Clock } from '../../runtime/clock.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { QUOTE_KINDS, type QuoteKind } from '../types.ts';

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
  /**
   * Requests that each request here makes too: pools of the block being built are read at the committed head as well.
   */
  readonly under?: RequestedPools | undefined;
  readonly now: Clock;
}

/** How many subscriptions pin a pool, and until when it counts as requested without them. */
interface Request extends RequestedPool {
  pins: number;
  until: number;
}

/**
 * The pools of one chain that clients requested within the last `warmMs`, or pin by subscriptions. Pools that clients
 * request of other processes can be added.
 */
export class RequestedPools {
  readonly #warmMs: number;
  readonly #under: RequestedPools | undefined;
  readonly #now: Clock;
  /** Requests by read, those of clients with keys apart from others. */
  readonly #requests = new Map<string, Request>();
  #elsewhere: ReadonlyMap<string, RequestedPool> = new Map();
  readonly #listeners = new Set<() => void>();

  constructor({ warmMs, under, now }: RequestedPoolsDeps) {
    this.#warmMs = warmMs;
    this.#under = under;
    this.#now = now;
  }

  /** Calls the listener when a pool becomes requested. */
  onRequested(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Notes pools that a client requests now. */
  markRequested(pools: readonly Pick<ServedPool, 'address'>[], kind: QuoteKind, byKey: boolean): void {
    if (this.#warmMs === 0) return;
    this.#under?.markRequested(pools, kind, byKey);
    const until = this.#now() + this.#warmMs;
    for (const { address } of pools) this.#note({ address, kind, byKey }, 0, until);
  }

  /** Keeps a pool requested until it is released, and `warmMs` longer. @returns releases the pool */
  pin(address: Address, kind: QuoteKind, byKey: boolean): () => void {
    const releaseUnder = this.#under?.pin(address, kind, byKey);
    const request = this.#note({ address, kind, byKey }, 1, 0);
    return () => {
      releaseUnder?.();
      request.pins -= 1;
      request.until = this.#now() + this.#warmMs;
    };
  }

  #note(pool: RequestedPool, pins: number, until: number): Request {
    const key = requestKey(pool);
    const known = this.#requests.get(key);
    const request = known ?? { ...pool, pins: 0, until: 0 };
    const isNew = !known || !this.#isRequested(known);
    this.#requests.set(key, request);
    request.pins += pins;
    request.until = Math.max(request.until, until);
    if (isNew) for (const listener of this.#listeners) listener();
    return request;
  }

  /** All pools that clients request now, of any process. */
  list(): RequestedPool[] {
    return merged([...this.#elsewhere.values(), ...this.own()]);
  }

  /** Pools that clients request of this process now. Forgets requests that ended. */
  own(): RequestedPool[] {
    for (const [key, request] of this.#requests) if (!this.#isRequested(request)) this.#requests.delete(key);
    return merged([...this.#requests.values()]);
  }

  /** Whether a pool is requested in any way. */
  has(address: Address): boolean {
    if (this.hasElsewhere(address)) return true;
    return QUOTE_KINDS.some((kind) =>
      [true, false].some((byKey) => {
        const request = this.#requests.get(requestKey({ address, kind, byKey }));
        return request !== undefined && this.#isRequested(request);
      }),
    );
  }

  /** Whether a client of another process requests a pool. */
  hasElsewhere(address: Address): boolean {
    return QUOTE_KINDS.some((kind) => this.#elsewhere.has(warmKey({ kind, address })));
  }

  /** Replaces the pools that clients request of other processes. */
  setElsewhere(pools: readonly RequestedPool[]): void {
    this.#elsewhere = new Map(merged(pools).map((pool) => [warmKey(pool), pool]));
  }

  #isRequested({ pins, until }: Request): boolean {
    return pins > 0 || until > this.#now();
  }
}

/** Merges requests for the same read. A read counts as keyed if any of its requests does. */
function merged(requests: readonly RequestedPool[]): RequestedPool[] {
  const reads = new Map<string, RequestedPool>();
  for (const { address, kind, byKey } of requests) {
    const key = warmKey({ address, kind });
    reads.set(key, { address, kind, byKey: byKey || reads.get(key)?.byKey === true });
  }
  return [...reads.values()];
}

const requestKey = (request: RequestedPool): string => `${warmKey(request)}${request.byKey}`;

/** The key of a read: the same pool and kind have the same key. */
export const warmKey = ({ kind, address }: Pick<RequestedPool, 'kind' | 'address'>): string => `${kind}${address}`;
