import type { Clock } from '../../runtime/clock.ts';

/** Classes of scheduled reads, the most important first. Callers say which reads are of which class. */
export const READ_CLASSES = ['keyed', 'funded', 'remaining'] as const;

export type ReadClass = (typeof READ_CLASSES)[number];

/** Part of the calls that each class but the first has for itself. */
const LOWER_SHARE = 0.1;
const MINUTE_MS = 60_000;
const BURST_FRACTION = 0.25;
/** Calls that a single read may take: what is saved should pay for them. */
const MIN_BURST = 10;
const MAX_BURST_FRACTION = 0.75;

/**
 * Limits the calls per minute of the scheduled reads of one chain. Each class but the first has a tenth of them for
 * itself; the first has the rest. Lower classes may also use what the first saved beyond half of what it can save.
 *
 * Invariant: no minute has more than `callsPerMinute`.
 */
export class CallBudget {
  readonly callsPerMinute: number;
  readonly #first: RateBucket;
  readonly #buckets: ReadonlyMap<ReadClass, RateBucket>;
  readonly #now: Clock;
  readonly #log: { readonly at: number; readonly kind: ReadClass }[] = [];

  /** @param classes the classes that the process has, in the order of {@link READ_CLASSES} */
  constructor(callsPerMinute: number, classes: readonly ReadClass[], now: Clock) {
    const [, ...lower] = classes;
    this.callsPerMinute = callsPerMinute;
    this.#now = now;
    this.#first = new RateBucket(callsPerMinute * (1 - LOWER_SHARE * lower.length), now());
    this.#buckets = new Map(lower.map((kind) => [kind, new RateBucket(callsPerMinute * LOWER_SHARE, now())]));
  }

  /** Takes one call. @returns false when the class has none left */
  reserve(kind: ReadClass): boolean {
    if (this.saved(kind) + this.spare(kind) < 1) return false;
    const now = this.#now();
    const own = this.#bucketOf(kind);
    (own.leftAt(now) >= 1 ? own : this.#first).take(now);
    this.#log.push({ at: now, kind });
    this.#forget(now);
    return true;
  }

  /** Calls that a class can make now of its own part. */
  saved(kind: ReadClass): number {
    return Math.floor(this.#bucketOf(kind).leftAt(this.#now()));
  }

  /** Calls that a class can make besides, from what the first class saved. */
  spare(kind: ReadClass): number {
    if (this.#bucketOf(kind) === this.#first) return 0;
    return Math.max(0, Math.floor(this.#first.leftAt(this.#now()) - this.#first.burst / 2));
  }

  /** Calls that a class can save whatever the others take. */
  burst(kind: ReadClass): number {
    const own = this.#bucketOf(kind);
    return Math.floor(own === this.#first ? own.burst / 2 : own.burst);
  }

  /** Whether a class saved more than it must keep for reads that come first. */
  hasSpare(kind: ReadClass): boolean {
    return this.saved(kind) > this.burst(kind);
  }

  /** Takes a call, if {@link hasSpare} allows one. @returns whether it was taken */
  reserveSpare(kind: ReadClass): boolean {
    return this.hasSpare(kind) && this.reserve(kind);
  }

  /** Calls of the last minute. */
  spent(kind: ReadClass): number {
    this.#forget(this.#now());
    return this.#log.filter((call) => call.kind === kind).length;
  }

  #bucketOf(kind: ReadClass): RateBucket {
    return this.#buckets.get(kind) ?? this.#first;
  }

  #forget(now: number): void {
    const oldest = now - MINUTE_MS;
    while ((this.#log[0]?.at ?? oldest + 1) <= oldest) this.#log.shift();
  }
}

/** Allows at most so many calls in any minute: a part of them can be saved, the rest comes back evenly. */
class RateBucket {
  /** Most calls that can be saved. */
  readonly burst: number;
  readonly #perMs: number;
  /** Calls that were left at a time. */
  #left: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.burst = Math.min(perMinute * MAX_BURST_FRACTION, Math.max(perMinute * BURST_FRACTION, MIN_BURST));
    this.#perMs = (perMinute - this.burst) / MINUTE_MS;
    this.#left = this.burst;
    this.#at = now;
  }

  /** Calls that can be made now. */
  leftAt(now: number): number {
    return Math.min(this.burst, this.#left + (now - this.#at) * this.#perMs);
  }

  /** Takes one of the calls that are left. */
  take(now: number): void {
    this.#left = this.leftAt(now) - 1;
    this.#at = now;
  }
}
