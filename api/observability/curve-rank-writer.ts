import { LRUCache } from 'lru-cache';
import { curveRanks } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CountCurve } from './curve-metrics.ts';

export interface CurveRankWriterDeps {
  /** The primary, by connections that no request waits for. */
  readonly database: Queryable;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly pauseMs?: number;
}

type Row = typeof curveRanks.$inferInsert;

/** Ranks are written this often, when any changed. */
const PAUSE_MS = 10_000;
/** Pools whose last rank is remembered, and for how long: rows that were lost come back. */
const REMEMBERED = { max: 10_000, ttl: 3_600_000 };
const MOST_WAITING = 10_000;
const ROWS_AT_ONCE = 1_000;

/**
 * Writes the rank of each pool's curve to `operator.curve_rank` as it changes, and once an hour, beside the requests. Rows
 * that the database does not take wait for the next time. Of several processes the last one to write wins.
 */
export class CurveRankWriter {
  readonly #deps: CurveRankWriterDeps;
  readonly #timer: NodeJS.Timeout;
  readonly #last = new LRUCache<string, Row>(REMEMBERED);
  readonly #waiting = new Map<string, Row>();
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(deps: CurveRankWriterDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.flush(), deps.pauseMs ?? PAUSE_MS).unref();
  }

  /** Takes the ranks of a chain's pools. */
  of(chainId: number): CountCurve {
    return ({ pool, rank, whyNotCheaper, blockNumber }) => {
      const key = `${chainId}:${pool}`;
      const last = this.#last.get(key);
      if (last?.rank === rank && last.whyNotCheaper === whyNotCheaper) return;
      if (this.#waiting.size >= MOST_WAITING && !this.#waiting.has(key)) return;
      const row = { chainId, pool, rank, whyNotCheaper, blockNumber, seenAt: new Date() };
      this.#last.set(key, row);
      this.#waiting.set(key, row);
    };
  }

  /** Writes what waits; a failure is logged, once for any number in a row. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Ends the writing, after what waits was tried once more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.flush();
  }

  async #write(): Promise<void> {
    const { database, logger } = this.#deps;
    // Processes that write the same rows do so in the same order.
    const rows = [...this.#waiting].sort(([a], [b]) => (a < b ? -1 : 1));
    try {
      for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
        const batch = rows.slice(start, start + ROWS_AT_ONCE);
        await upsertRows(
          database,
          curveRanks,
          batch.map(([, row]) => row),
          { key: ['chainId', 'pool'] },
        );
        for (const [key, row] of batch) if (this.#waiting.get(key) === row) this.#waiting.delete(key);
      }
      if (rows.length > 0 && this.#isFailing) logger.info('ranks of curves are written again');
      if (rows.length > 0) this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, 'ranks of curves were not written: they wait');
      this.#isFailing = true;
    }
  }
}
