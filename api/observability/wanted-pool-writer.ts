import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { wantedPools } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type ReadAhead, storeReadAhead } from './read-ahead.ts';
import { RepeatedWrite } from './repeated-write.ts';

export interface WantedPoolWriterDeps {
  /** The primary, by connections that no request waits for. */
  readonly database: Queryable;
  readonly chains: readonly Pick<ChainConfig, 'chainId' | 'readBudget'>[];
  /** What clients of this process want of a chain now. */
  readonly wanted: (chainId: number) => Iterable<{ readonly address: Address }>;
  /** How this process reads what they want. */
  readonly ahead: (chainId: number) => ReadAhead;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly pauseMs?: number;
}

/** When a pool was last wanted, and when that was last written; milliseconds of one clock. */
interface Asked {
  at: number;
  writtenAt: number;
}

const PAUSE_MS = 5_000;
/** A pool that is asked for all the time is written so many times until it would be forgotten. */
const WRITES_PER_STAY = 5;

/**
 * Writes to `operator.wanted_pool` which pools clients want, beside the requests, so that capture reads their prices before
 * those of pools that nobody wants, and how they are read ahead. Of each chain only the pools wanted most recently are kept, here and in the table.
 */
export class WantedPoolWriter {
  readonly #deps: WantedPoolWriterDeps;
  readonly #repeated: RepeatedWrite;
  readonly #asked: ReadonlyMap<number, LRUCache<Address, Asked>>;

  constructor(deps: WantedPoolWriterDeps) {
    const { chains, logger, pauseMs = PAUSE_MS } = deps;
    this.#deps = deps;
    this.#asked = new Map(chains.map((it) => [it.chainId, new LRUCache({ max: it.readBudget.wantedPools })]));
    this.#repeated = new RepeatedWrite({ what: 'wanted pools', write: () => this.#write(), pauseMs, logger });
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
    const { database, chains, ahead } = this.#deps;
    let written = 0;
    for (const { chainId, readBudget } of chains) {
      this.#note(chainId);
      written += await storeReadAhead(database, chainId, ahead(chainId));
      const restMs = (readBudget.wantedSecs * 1_000) / WRITES_PER_STAY;
      const due = [...(this.#asked.get(chainId) ?? [])].filter(([, { at, writtenAt }]) => at - writtenAt > restMs);
      if (due.length === 0) continue;
      // Processes that write the same rows do so in the same order.
      const rows = due.map(([pool]) => ({ chainId, pool })).sort((a, b) => (a.pool < b.pool ? -1 : 1));
      const options = { key: ['chainId', 'pool'], computed: { askedAt: sql`now()` }, evenIfSame: true } as const;
      await upsertRows(database, wantedPools, rows, options);
      for (const [, entry] of due) entry.writtenAt = entry.at;
      await forgetOthers(database, chainId, readBudget);
      written += due.length;
    }
    return written;
  }

  #note(chainId: number): void {
    const ofChain = this.#asked.get(chainId);
    const at = performance.now();
    for (const { address } of this.#deps.wanted(chainId)) {
      const known = ofChain?.get(address);
      if (known) known.at = at;
      else ofChain?.set(address, { at, writtenAt: Number.NEGATIVE_INFINITY });
    }
  }
}

/** Deletes rows that are too old or too many. Rows that another process is writing are left to it. */
async function forgetOthers(
  database: Queryable,
  chainId: number,
  { wantedPools: most, wantedSecs }: ChainConfig['readBudget'],
): Promise<void> {
  await queriesOn(database).execute(sql`
    DELETE FROM ${wantedPools} w USING (
      SELECT chain_id, pool FROM ${wantedPools} WHERE chain_id = ${chainId} AND (
        asked_at < now() - make_interval(secs => ${wantedSecs}) OR pool IN (
          SELECT pool FROM ${wantedPools} WHERE chain_id = ${chainId} ORDER BY asked_at DESC, pool OFFSET ${most}))
      FOR UPDATE SKIP LOCKED) AS gone
    WHERE w.chain_id = gone.chain_id AND w.pool = gone.pool`);
}
