import type { Clock } from '../../runtime/clock.ts';

/** Reads of guarded pools after parts, and those of them in which the part passed between two calls. */
interface Count {
  /** When it began, milliseconds. */
  readonly since: number;
  readonly reads: number;
  readonly passed: number;
}

/** Reads are counted for so long, and for as long before. */
const COUNTED_MS = 30_000;
/** Fewer say nothing. */
const MIN_READS = 20;
const MIN_PASSED_PCT = 50;

/** Counts the reads of guarded pools in which the part passed: these take calls one after the other. */
export class PassedReads {
  readonly #now: Clock;
  #counts: readonly [Count, Count];

  constructor(now: Clock) {
    this.#now = now;
    const none = { since: now(), reads: 0, passed: 0 };
    this.#counts = [none, none];
  }

  add(hasPassed: boolean): void {
    const [before, { reads, passed, since }] = this.#recent();
    this.#counts = [before, { since, reads: reads + 1, passed: passed + (hasPassed ? 1 : 0) }];
  }

  /** What the operator should know where most reads are so; undefined otherwise. */
  warning(): string | undefined {
    const counts = this.#recent();
    const [reads, passed] = (['reads', 'passed'] as const).map((of) => counts[0][of] + counts[1][of]) as [
      number,
      number,
    ];
    const pct = reads < MIN_READS ? 0 : Math.floor((100 * passed) / reads);
    if (pct < MIN_PASSED_PCT) return undefined;
    return `nodes are too slow for guarded pools: in ${pct}% of their reads the part of the block passed, so they are committed`;
  }

  #recent(): readonly [Count, Count] {
    const now = this.#now();
    const age = now - this.#counts[1].since;
    const none = { since: now, reads: 0, passed: 0 };
    if (age >= COUNTED_MS) this.#counts = [age >= 2 * COUNTED_MS ? none : this.#counts[1], none];
    return this.#counts;
  }
}
