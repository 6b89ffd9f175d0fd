import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { BoundedCall, BoundedResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { Clock } from '../../runtime/clock.ts';
import { growingTo } from '../../runtime/growing-cache.ts';

/**
 * Calls of a pool that are made together: those that show it with a part, those that read the rest of what was shown,
 * and those of a pool that was not shown.
 */
export type GasKind = 'shown' | 'rest' | 'all';

export interface MadeCall {
  readonly call: BoundedCall;
  readonly result: BoundedResult;
}

/** Contracts that are no attack take so many times what calls are likely to take at most. */
const COSTLY = 4;
/** For so long a pool is not read after parts whose calls took more. */
const COSTLY_MS = 60_000;
/** Calls are packed as if they took so much more than the last ones. */
const MARGIN = 1.25;
const MAX_POOLS = 1_000;

/**
 * What the calls of pools after a part take, by which the next ones are packed. A pool that burns gas takes it from the
 * others of a call, and from the time of the part: for a while it is not read there.
 */
export class PoolGas {
  readonly #now: Clock;
  readonly #shares = new LRUCache<string, number>(growingTo(MAX_POOLS));
  readonly #costlyUntil = new LRUCache<Address, number>(growingTo(MAX_POOLS));
  readonly #listeners = new Set<(pool: Address) => void>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Notes what calls took. @param likely what honest contracts take at most, as a rule */
  note(kind: GasKind, pool: Address, used: number, likely: number): void {
    this.#shares.set(`${kind} ${pool}`, used / likely);
    if (used <= COSTLY * likely || this.isCostly(pool)) return;
    this.takeCostly(pool);
    for (const listener of this.#listeners) listener(pool);
  }

  /** Notes what calls took. */
  noteCalls(kind: GasKind, pool: Address, made: readonly MadeCall[]): void {
    // The hash of a code takes no gas of a contract.
    const counted = made.filter(({ call }) => call.likelyGas > 0);
    const sum = (of: (each: MadeCall) => number) => counted.reduce((total, each) => total + of(each), 0);
    if (counted.length > 0)
      this.note(
        kind,
        pool,
        sum(({ result }) => result.gasUsed),
        sum(({ call }) => call.likelyGas),
      );
  }

  /** The calls, as they are to be packed. */
  packed(kind: GasKind, pool: Address, calls: readonly BoundedCall[]): BoundedCall[] {
    const share = this.share(kind, pool);
    return calls.map((call) => ({ ...call, likelyGas: call.likelyGas * share }));
  }

  /** What such calls of a pool are expected to take, as a multiple of the `likely` gas; 1 before any was made. */
  share(kind: GasKind, pool: Address): number {
    const last = this.#shares.get(`${kind} ${pool}`);
    return last === undefined ? 1 : MARGIN * last;
  }

  /** Whether a pool burns gas, so that it is not read after parts now. */
  isCostly(pool: Address): boolean {
    return this.#now() < (this.#costlyUntil.get(pool) ?? 0);
  }

  /** Calls the listener with each pool that calls of this process show to burn gas, for others. */
  onCostly(listener: (pool: Address) => void): void {
    this.#listeners.add(listener);
  }

  /** Notes that a pool burns gas. */
  takeCostly(pool: Address): void {
    this.#costlyUntil.set(pool, this.#now() + COSTLY_MS);
  }
}
