import { CallBudget, READ_CLASSES, type ReadClass } from '../../chain/read-schedule/call-budget.ts';
import { ReadScheduler } from '../../chain/read-schedule/read-scheduler.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { type RequestedPool, warmKey } from './requested-pools.ts';

/** A requested pool that is served. */
export type WarmRead = RequestedPool & { readonly pool: ServedPool };

/** Reads of one class at one block, which share calls. */
export class WarmBatch {
  readonly kind: ReadClass;
  readonly reads: readonly WarmRead[];
  readonly #budget: CallBudget;
  /** Calls that were reserved. */
  calls = 0;
  /** Whether the budget rejected a call. */
  isExhausted = false;

  constructor(kind: ReadClass, reads: readonly WarmRead[], budget: CallBudget) {
    this.kind = kind;
    this.reads = reads;
    this.#budget = budget;
  }

  /** Takes a call from the budget of the class. @returns false when none is left: the call must not be made */
  readonly reserve = (): boolean => {
    const isReserved = this.#budget.reserve(this.kind);
    if (isReserved) this.calls += 1;
    else this.isExhausted = true;
    return isReserved;
  };
}

export interface WarmScheduleDeps {
  readonly callsPerMinute: number;
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly now: Clock;
}

/** Bounds of the next batch of a class: its most reads, and the calls that it waits for. */
interface Pace {
  readonly limit: number;
  readonly calls: number;
  /** Whether the last batch had too few calls. A single read then does not count on spare calls, which others take. */
  readonly isExhausted: boolean;
}

const NO_PACE: Pace = { limit: Number.POSITIVE_INFINITY, calls: 1, isExhausted: false };
/** By this factor the limit of reads grows after a batch that was limited and had all its calls. */
const GROWTH = 1.25;

/**
 * Decides which requested pools are read at a block.
 *
 * 1. Each class of reads has its own part of the budget.
 * 2. A class is read once the budget has the calls that its last batch took.
 * 3. After a batch that exhausted the budget, the next ones have fewer reads: those whose last turn was longest ago.
 */
export class WarmSchedule {
  readonly budget: CallBudget;
  readonly #isFunded: WarmScheduleDeps['isFunded'];
  readonly #scheduler: ReadScheduler<WarmRead>;
  readonly #paces = new Map<ReadClass, Pace>();

  constructor({ callsPerMinute, isFunded, now }: WarmScheduleDeps) {
    this.budget = new CallBudget(callsPerMinute, READ_CLASSES, now);
    this.#isFunded = isFunded;
    this.#scheduler = new ReadScheduler(now);
  }

  /**
   * Gives the batches to read now. {@link settle} must follow for each.
   *
   * @param requested all reads of the chain; the turns of any other read are forgotten
   * @param isPending false for a read that needs no call at this block
   */
  plan(requested: readonly WarmRead[], isPending: (read: WarmRead) => boolean): WarmBatch[] {
    this.#scheduler.set(requested.map((item) => ({ key: warmKey(item), kind: this.#classOf(item), item })));
    return READ_CLASSES.flatMap((kind) => {
      const { limit, calls, isExhausted } = this.#paceOf(kind);
      const reads = this.#scheduler.due(kind).filter(isPending).slice(0, limit);
      const needed = Math.max(1, Math.min(calls, this.budget.burst(kind)));
      const left = this.budget.saved(kind) + (isExhausted && limit === 1 ? 0 : this.budget.spare(kind));
      if (reads.length === 0 || left < needed) return [];
      return [new WarmBatch(kind, reads, this.budget)];
    });
  }

  /** Notes that a read had its turn. */
  markRead(read: RequestedPool): void {
    this.#scheduler.record(warmKey(read), { gas: 0, isFailed: false });
  }

  /** Ends a batch. @param isRead false for reads for which the budget had no calls */
  settle({ kind, reads, calls, isExhausted }: WarmBatch, isRead: (read: WarmRead) => boolean): void {
    const read = reads.filter(isRead);
    // A single read that takes more calls than can be saved must not keep other reads from their turns.
    for (const each of reads.length > 1 ? read : reads) this.markRead(each);
    const { limit, calls: usual } = this.#paceOf(kind);
    const grown = reads.length < limit ? limit : Math.ceil(limit * GROWTH);
    this.#paces.set(
      kind,
      isExhausted
        ? { limit: Math.max(1, read.length), calls: this.budget.burst(kind), isExhausted }
        : // `calls` shrinks slowly: a batch between two blocks has few reads, but the next one may have all of them.
          { limit: grown, calls: Math.max(calls, usual / GROWTH), isExhausted },
    );
  }

  #paceOf(kind: ReadClass): Pace {
    return this.#paces.get(kind) ?? NO_PACE;
  }

  /** `keyed`: what clients with keys request; of the rest, `funded` holds priced tokens. */
  #classOf({ byKey, pool }: WarmRead): ReadClass {
    if (byKey) return 'keyed';
    return this.#isFunded(pool) ? 'funded' : 'remaining';
  }
}
