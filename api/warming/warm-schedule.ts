import type { Clock } from '../../chain/circuit-breaker.ts';
import { CallBudget, READ_CLASSES, type ReadClass } from '../../chain/read-schedule/call-budget.ts';
import { ReadScheduler } from '../../chain/read-schedule/read-scheduler.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import { type RequestedPool, warmKey } from './requested-pools.ts';

/** A requested pool that is served. */
export type WarmRead = RequestedPool & { readonly pool: ServedPool };

/** Reads of one class at one block, which share calls. */
export interface WarmBatch {
  readonly kind: ReadClass;
  readonly reads: readonly WarmRead[];
  /** Takes a call from the budget of the class. @returns false when there is none: it must not be made */
  readonly reserve: () => boolean;
  /** Calls that were made. */
  calls: number;
  /** Whether a call was not made. */
  isExhausted: boolean;
}

export interface WarmScheduleDeps {
  readonly callsPerMinute: number;
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly now?: Clock;
}

/** Of the next batch of a class: most reads, and the calls that it is likely to take. */
interface Pace {
  readonly limit: number;
  readonly calls: number;
  /** Whether the last one had too few. */
  readonly isExhausted: boolean;
}

const NO_PACE: Pace = { limit: Number.POSITIVE_INFINITY, calls: 1, isExhausted: false };
/** A batch may have this much more reads than one that was limited and had all its calls. */
const GROWTH = 1.25;

/**
 * Decides which requested pools are read at a block, each class by its own part of the budget. A class is read once the budget
 * has the calls that its last batch took. When the budget was exhausted within a batch, the next ones have fewer reads: those
 * that had their turn longest ago.
 */
export class WarmSchedule {
  readonly budget: CallBudget;
  readonly #isFunded: WarmScheduleDeps['isFunded'];
  readonly #scheduler: ReadScheduler<WarmRead>;
  readonly #paces = new Map<ReadClass, Pace>();

  constructor({ callsPerMinute, isFunded, now = () => performance.now() }: WarmScheduleDeps) {
    this.budget = new CallBudget(callsPerMinute, READ_CLASSES, now);
    this.#isFunded = isFunded;
    this.#scheduler = new ReadScheduler(now);
  }

  /**
   * The batches to read now; {@link settle} must follow for each.
   *
   * @param requested all reads of the chain: the turns of any other are forgotten
   * @param isPending false for those that need no call at this block
   */
  plan(requested: readonly WarmRead[], isPending: (read: WarmRead) => boolean): WarmBatch[] {
    this.#scheduler.set(requested.map((item) => ({ key: warmKey(item), kind: this.#classOf(item), item })));
    // Calls of the first class that this block is going to take.
    let taken = 0;
    return READ_CLASSES.flatMap((kind) => {
      const { limit, calls, isExhausted } = this.#paceOf(kind);
      const reads = this.#scheduler.due(kind).filter(isPending).slice(0, limit);
      const needed = Math.max(1, Math.min(calls, this.budget.burst(kind)));
      const saved = this.budget.saved(kind);
      // Other classes may take more than is known: a read that failed alone waits for calls of its own class.
      const spare = isExhausted && limit === 1 ? 0 : this.budget.spare(kind) - taken;
      if (reads.length === 0 || saved + Math.max(0, spare) < needed) return [];
      taken += kind === 'keyed' ? calls : Math.max(0, calls - saved);
      return [this.#batchOf(kind, reads)];
    });
  }

  /** Notes that a read had its turn. */
  markRead(read: RequestedPool): void {
    this.#scheduler.record(warmKey(read), { gas: 0, isFailed: false });
  }

  /** Ends a batch. @param isRead false for reads for which the budget had no calls */
  settle({ kind, reads, calls, isExhausted }: WarmBatch, isRead: (read: WarmRead) => boolean): void {
    const read = reads.filter(isRead);
    // One that takes more than can be saved must not keep the others from their turns.
    for (const each of reads.length > 1 ? read : reads) this.markRead(each);
    const before = this.#paceOf(kind);
    const isLimited = reads.length >= before.limit;
    this.#paces.set(
      kind,
      isExhausted
        ? { limit: Math.max(1, read.length), calls: this.budget.burst(kind), isExhausted }
        : {
            limit: isLimited ? Math.ceil(before.limit * GROWTH) : before.limit,
            // A batch between two blocks has few reads: the next one may have all of them.
            calls: Math.max(calls, before.calls / GROWTH),
            isExhausted,
          },
    );
  }

  #paceOf(kind: ReadClass): Pace {
    return this.#paces.get(kind) ?? NO_PACE;
  }

  #batchOf(kind: ReadClass, reads: readonly WarmRead[]): WarmBatch {
    const batch: WarmBatch = {
      kind,
      reads,
      calls: 0,
      isExhausted: false,
      reserve: () => {
        const isReserved = this.budget.reserve(kind);
        if (isReserved) batch.calls += 1;
        else batch.isExhausted = true;
        return isReserved;
      },
    };
    return batch;
  }

  #classOf({ byKey, pool }: WarmRead): ReadClass {
    if (byKey) return 'keyed';
    return this.#isFunded(pool) ? 'funded' : 'remaining';
  }
}
