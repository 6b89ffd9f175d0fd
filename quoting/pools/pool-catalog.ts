import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import { readDecisions } from './catalog-rows.ts';
import { ChainCatalog, type DataAges, NO_AUDIT, type PoolReport } from './chain-catalog.ts';
import { type PoolDirectory, PoolsUnknownError, PoolTable, type ServedPool } from './pool-directory.ts';

/** Takes each report of a served pool, once or more often, and null for a pool that is no longer served. */
export type ReportListener = (pool: ServedPool, report: PoolReport | null) => void;

export interface PoolCatalogDeps {
  readonly database: Database;
  readonly chains: readonly ChainConfig[];
  readonly logger: Logger;
  readonly now: Clock;
  /** Polls start when it resolves. Default: at once. */
  readonly firstIndex?: Promise<void>;
  /** Milliseconds from the end of a poll to the next; tests change it. */
  readonly pollMs?: number;
}

const POLL_MS = 2_000;
const NO_AGES: DataAges = {
  newestPriceAgeSecs: null,
  oldestPriceAgeSecs: null,
  listingAgeSecs: null,
  fiatPriceAgeSecs: null,
  fiatPricesLost: false,
  audit: NO_AUDIT,
  faultyNodes: [],
};

/**
 * Knows which pools there are, and what the database says about them. It loads all once. Then one poll, independent of
 * requests, reads what changed. All pools are read again when another index is served, calibration decided, or an
 * operator delisted a pool or listed it again.
 */
export class PoolCatalog implements PoolDirectory {
  readonly #deps: PoolCatalogDeps;
  readonly #outage: OutageLog;
  readonly #table = new PoolTable();
  readonly #chains: ReadonlyMap<number, ChainCatalog>;
  #onReport: ReportListener = () => undefined;
  #stopPolling: (() => void) | undefined;
  /** Epoch of the last complete read; null before it. */
  #epoch: string | null = null;
  #isStopped = false;
  readonly #poll = cacheResult(() => this.#readChanges(), 0);

  constructor(deps: PoolCatalogDeps) {
    this.#deps = deps;
    this.#outage = new OutageLog(deps.logger, {
      begin: 'failed to refresh the pool catalog: what is known is served',
      end: 'the pool catalog is refreshed again',
    });
    const shared = {
      database: deps.database.$client,
      table: this.#table,
      onReport: (pool: ServedPool, report: PoolReport) => this.#onReport(pool, report),
      now: deps.now,
    };
    this.#chains = new Map(deps.chains.map((config) => [config.chainId, new ChainCatalog({ ...shared, config })]));
    this.#table.onChange((pool, removal) => {
      if (removal) this.#onReport(pool, null);
    });
    const start = () => {
      if (!this.#isStopped) this.#stopPolling = startRepeating(() => this.#pollQuietly(), deps.pollMs ?? POLL_MS);
    };
    if (deps.firstIndex) void deps.firstIndex.then(start);
    else start();
  }

  /** Sets the one listener that takes reports of pools from now on. */
  onReport(listener: ReportListener): void {
    this.#onReport = listener;
  }

  async table(): Promise<PoolTable> {
    if (this.#epoch !== null) return this.#table;
    try {
      await this.#poll();
      return this.#table;
    } catch (error) {
      throw new PoolsUnknownError(await isTemporaryFailure(error, this.#deps.database.$client), error);
    }
  }

  /** Whether capture says that the pool is funded; false while not known. */
  isFunded({ chainId, address }: Pick<ServedPool, 'chainId' | 'address'>): boolean {
    return this.#chains.get(chainId)?.isFunded(address) === true;
  }

  /** How old prices and the listing are; null while the database does not answer. */
  ages(chainId: number): DataAges {
    return this.#chains.get(chainId)?.ages() ?? NO_AGES;
  }

  /** Ends the polls. */
  stop(): void {
    this.#isStopped = true;
    this.#stopPolling?.();
  }

  async #pollQuietly(): Promise<void> {
    try {
      await this.#poll();
      this.#outage.worked();
    } catch (error) {
      for (const chain of this.#chains.values()) chain.forgetAges();
      if (!this.#isStopped) this.#outage.failed(error);
    }
  }

  async #readChanges(): Promise<void> {
    const { epoch, ...calibration } = await readDecisions(this.#deps.database.$client);
    const isReload = epoch !== this.#epoch;
    for (const chain of this.#chains.values()) await chain.read(calibration, isReload);
    this.#epoch = epoch;
  }
}
