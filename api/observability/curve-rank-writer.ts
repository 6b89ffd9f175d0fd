import { LRUCache } from 'lru-cache';
import { curveRanks } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CountCurve } from './curve-metrics.ts';
import { RepeatedWrite } from './repeated-write.ts';

export interface CurveRankWriterDeps {
  /** The primary, by connections that no request waits for. */
  readonly database: Queryable;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Pools whose last rank is remembered, and those whose rank may wait to be written. */
  readonly rememberedPools: number;
  readonly pauseMs?: number;
}

type Row = typeof curveRanks.$inferInsert;

/** Ranks are written this often, when any changed. */
const PAUSE_MS = 10_000;
/** How long a pool's last rank is remembered: rows that were lost come back. */
const REMEMBERED_MS = 3_600_000;
const ROWS_AT_ONCE = 1_000;

/**
 * Writes the rank of each pool's curve to `operator.curve_rank` as it changes, and once an hour, beside the requests. Rows
 * that the database does not take wait for the next time. Of several processes the last one to write wins.
 */
export class CurveRankWriter {
  readonly #database: Queryable;
  readonly #repeated: RepeatedWrite;
  readonly #rememberedPools: number;
  readonly #last: LRUCache<string, Row>;
  readonly #waiting = new Map<string, Row>();

  constructor({ database, logger, rememberedPools, pauseMs = PAUSE_MS }: CurveRankWriterDeps) {
    this.#database = database;
    this.#rememberedPools = rememberedPools;
    this.#last = new LRUCache({ max: rememberedPools, ttl: REMEMBERED_MS });
    this.#repeated = new RepeatedWrite({ what: 'ranks of curves', write: () => this.#write(), pauseMs, logger });
  }

  /** Takes the ranks of a chain's pools. */
  of(chainId: number): CountCurve {
    return ({ pool, rank, whyNotCheaper, blockNumber }) => {
      const key = `${chainId}:${pool}`;
      const last = this.#last.get(key);
      if (last?.rank === rank && last.whyNotCheaper === whyNotCheaper) return;
      if (this.#waiting.size >= this.#rememberedPools && !this.#waiting.has(key)) return;
      const row = { chainId, pool, rank, whyNotCheaper, blockNumber, seenAt: new Date() };
      this.#last.set(key, row);
      this.#waiting.set(key, row);
    };
  }

  /** Writes what waits. Never rejects. */
  flush(): Promise<void> {
    return this.#repeated.flush();
  }

  /** Ends the writing, after what waits was tried once more. */
  stop(): Promise<void> {
    return this.#repeated.stop();
  }

  async #write(): Promise<number> {
    // Processes that write the same rows do so in the same order.
    const rows = [...this.#waiting].sort(([a], [b]) => (a < b ? -1 : 1));
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const batch = rows.slice(start, start + ROWS_AT_ONCE);
      await upsertRows(
        this.#database,
        curveRanks,
        batch.map(([, row]) => row),
        { key: ['chainId', 'pool'] },
      );
      for (const [key, row] of batch) if (this.#waiting.get(key) === row) this.#waiting.delete(key);
    }
    return rows.length;
  }
}
