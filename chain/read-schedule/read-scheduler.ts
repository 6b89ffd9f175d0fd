import type { Clock } from '../circuit-breaker.ts';
import { READ_CLASSES, type ReadClass } from './call-budget.ts';

/** A read that is to be made again and again. */
export interface ScheduledRead<T> {
  readonly key: string;
  readonly kind: ReadClass;
  /** What is read. */
  readonly item: T;
}

/** Gas that a read took, and whether it gave nothing. */
export interface ReadOutcome {
  readonly gas: number;
  readonly isFailed: boolean;
}

/** How the reads of a class are served. */
export interface Backlog {
  readonly pools: number;
  /** Reads that were due and not made. */
  readonly overdue: number;
  /** Reads that wait since they failed or burned gas. */
  readonly backoff: number;
  /** Since the oldest read that does not back off; null without one. */
  readonly oldestAgeMs: number | null;
}

/** A read that takes more gas burns it. */
export const MAX_READ_GAS = 1_500_000;
/** A failing pool is read within the age at which its status becomes unknown. */
const BACKOFF_MS = { min: 10_000, maxFailing: 40_000, maxBurning: 900_000 };

interface Turn<T> {
  readonly read: ScheduledRead<T>;
  /** When it was made last; when it was first seen, before that. */
  readonly readAt: number;
  /** When it had its turn last; null before that. */
  readonly triedAt: number | null;
  readonly dueAt: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly isBurning: boolean;
  /** Of the last time. */
  readonly gas: number | null;
}

type Queue<T> = Map<string, Turn<T>>;

/**
 * Whose turn it is to be read: in each class the read that had its turn longest ago. One that burns gas, or fails and is not of
 * a funded pool, backs off for longer each time until it succeeds. While it burns gas it counts as one of the remaining.
 *
 * Each class has a queue of its own: a few funded pools are found without a look at the many others.
 */
export class ReadScheduler<T> {
  readonly #now: Clock;
  /** In the order of their last turns. */
  #queues = emptyQueues<T>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Replaces the reads that there are. What is known of those that stay is kept. */
  set(reads: Iterable<ScheduledRead<T>>): void {
    const now = this.#now();
    const isNew = { readAt: now, triedAt: null, dueAt: now, failures: 0, isBurning: false, gas: null };
    const turns = Array.from(reads, (read): Turn<T> => ({ ...isNew, ...this.#find(read.key), read }));
    this.#queues = emptyQueues();
    for (const turn of turns.sort((a, b) => lastTurn(a) - lastTurn(b))) this.#put(turn);
  }

  /**
   * Reads of a class that are due and had no turn since a time, in the order of their turns.
   *
   * @param max most of them
   */
  due(kind: ReadClass, since = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY): T[] {
    const found: T[] = [];
    const now = this.#now();
    for (const turn of this.#queues[kind].values()) {
      if (found.length >= max) break;
      if (isDue(turn, since, now)) found.push(turn.read.item);
    }
    return found;
  }

  /** Gas that it took last; null before it was read. */
  gasOf(key: string): number | null {
    return this.#find(key)?.gas ?? null;
  }

  /** Notes a read that ends now. */
  record(key: string, { gas, isFailed }: ReadOutcome): void {
    const turn = this.#take(key);
    if (!turn) return;
    const now = this.#now();
    const isBurning = gas > MAX_READ_GAS;
    const backsOff = isBurning || (isFailed && turn.read.kind === 'remaining');
    const failures = backsOff ? turn.failures + 1 : 0;
    const longest = isBurning ? BACKOFF_MS.maxBurning : BACKOFF_MS.maxFailing;
    const pauseMs = backsOff ? Math.min(BACKOFF_MS.min * 2 ** (failures - 1), longest) : 0;
    this.#put({ read: turn.read, readAt: now, triedAt: now, dueAt: now + pauseMs, failures, isBurning, gas });
  }

  /** Puts a read behind all others, since the node did not answer the call that it was in. */
  postpone(key: string): void {
    const turn = this.#take(key);
    if (turn) this.#put({ ...turn, triedAt: this.#now() });
  }

  /** @param since begin of the run that was to make them */
  backlog(kind: ReadClass, since: number): Backlog {
    const now = this.#now();
    const turns = [...this.#queues[kind].values()];
    const calm = turns.filter(({ failures }) => failures === 0);
    const oldest = calm.reduce((least, { readAt }) => Math.min(least, readAt), Number.POSITIVE_INFINITY);
    return {
      pools: turns.length,
      overdue: turns.filter((turn) => isDue(turn, since, now)).length,
      backoff: turns.length - calm.length,
      oldestAgeMs: calm.length > 0 ? now - oldest : null,
    };
  }

  #find(key: string): Turn<T> | undefined {
    return READ_CLASSES.map((kind) => this.#queues[kind].get(key)).find((turn) => turn !== undefined);
  }

  #take(key: string): Turn<T> | undefined {
    const turn = this.#find(key);
    for (const kind of READ_CLASSES) this.#queues[kind].delete(key);
    return turn;
  }

  #put(turn: Turn<T>): void {
    this.#queues[turn.isBurning ? 'remaining' : turn.read.kind].set(turn.read.key, turn);
  }
}

const emptyQueues = <T>(): Record<ReadClass, Queue<T>> => ({
  keyed: new Map(),
  funded: new Map(),
  remaining: new Map(),
});

const lastTurn = ({ triedAt, readAt }: Turn<unknown>): number => triedAt ?? readAt;

const isDue = ({ triedAt, dueAt }: Turn<unknown>, since: number, now: number): boolean =>
  dueAt <= now && (triedAt === null || triedAt < since);
