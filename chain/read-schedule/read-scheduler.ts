import type { Clock } from '../../runtime/clock.ts';
import { READ_CLASSES, type ReadClass } from './call-budget.ts';

/** A read that is to be made again and again. */
export interface ScheduledRead<T> {
  readonly key: string;
  readonly kind: ReadClass;
  /** What is read. */
  readonly item: T;
}

/** Gas that a read took, and whether it failed. */
export interface ReadOutcome {
  readonly gas: number;
  readonly isFailed: boolean;
}

/** How the reads of a class are served. */
export interface Backlog {
  readonly reads: number;
  /** Reads that were due and not made. */
  readonly overdue: number;
  /** Reads that wait because they failed or burned gas. */
  readonly backoff: number;
  /** Age of the oldest read that does not back off; null without one. */
  readonly oldestAgeMs: number | null;
}

/** A read that takes more gas than this counts as burning gas. */
export const MAX_READ_GAS = 1_500_000;
/** What fails is read again before callers take it for unknown. */
const BACKOFF_MS = { min: 10_000, maxFailing: 40_000, maxBurning: 900_000 };

interface Turn<T> {
  readonly read: ScheduledRead<T>;
  /** When the read was last made; before that, when it was added. */
  readonly readAt: number;
  /** When the read last had its turn; null before that. */
  readonly triedAt: number | null;
  readonly dueAt: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly isBurning: boolean;
  /** Gas of the last time; null before that. */
  readonly gas: number | null;
}

type Queue<T> = Map<string, Turn<T>>;

/**
 * Decides which reads come next: in each class the read whose turn is longest ago. A read that burns gas, or that fails
 * in the class `remaining`, backs off longer each time until it succeeds. While it burns gas, it waits in the class
 * `remaining`.
 *
 * Each class has its own queue, so that the few reads of one are found without a look at the many of another.
 */
export class ReadScheduler<T> {
  readonly #now: Clock;
  /** In the order of their last turns. */
  #queues = emptyQueues<T>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Replaces all reads. What is known about reads that stay is kept. */
  set(reads: Iterable<ScheduledRead<T>>): void {
    const now = this.#now();
    const isNew = { readAt: now, triedAt: null, dueAt: now, failures: 0, isBurning: false, gas: null };
    const turns = Array.from(reads, (read): Turn<T> => ({ ...isNew, ...this.#find(read.key), read }));
    this.#queues = emptyQueues();
    for (const turn of turns.sort((a, b) => lastTurn(a) - lastTurn(b))) this.#put(turn);
  }

  /**
   * Lists the reads of a class that are due and had no turn since a time, in the order of their turns.
   *
   * @param max most reads to list
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

  /** Gas that the read last took; null before it was made. */
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

  /**
   * Puts a read behind all others, because it found nothing out: the node did not answer its call,
   * or there was no budget.
   */
  postpone(key: string): void {
    const turn = this.#take(key);
    if (turn) this.#put({ ...turn, triedAt: this.#now() });
  }

  /** @param since start of the run that was to make the reads */
  backlog(kind: ReadClass, since: number): Backlog {
    const now = this.#now();
    const turns = [...this.#queues[kind].values()];
    const calm = turns.filter(({ failures }) => failures === 0);
    const oldest = calm.reduce((least, { readAt }) => Math.min(least, readAt), Number.POSITIVE_INFINITY);
    return {
      reads: turns.length,
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
