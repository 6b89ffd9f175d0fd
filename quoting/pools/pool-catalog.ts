import { isDeepStrictEqual } from 'node:util';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import { forEachYielding } from '../../runtime/for-each-yielding.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import {
  type Calibration,
  type ChainRow,
  type PoolRow,
  type ReportRow,
  readAllPools,
  readChain,
  readDecisions,
  readPoolsSince,
  readReports,
} from './catalog-rows.ts';
import { type PoolDirectory, PoolsUnknownError, PoolTable, type ServedPool } from './pool-directory.ts';
import { PoolMaker } from './pool-maker.ts';

/** The last read of a pool by capture. */
export type PoolReport = Omit<ReportRow, 'address' | 'capturedUs' | 'isFunded'>;

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

/** Ages in whole seconds; null when not known. */
export interface DataAges {
  readonly newestPriceAgeSecs: number | null;
  readonly oldestPriceAgeSecs: number | null;
  readonly listingAgeSecs: number | null;
  /** Of the newest token price that the price source gave. */
  readonly fiatPriceAgeSecs: number | null;
  /** Whether pools are listed, but no token price is new enough to be shown. False when not known. */
  readonly fiatPricesLost: boolean;
}

const POLL_MS = 2_000;
/** Ponder undoes at most this many blocks: two windows of finality, of at most 240 blocks each. */
const MAX_UNDONE_BLOCKS = 480;
/** How long capture may take from start to commit of a statement. Rows of a longer one show after their next read. */
const CAPTURE_US = 1_000_000;

/** What is known of a chain besides its pools. */
interface CatalogChain {
  readonly config: ChainConfig;
  readonly maker: PoolMaker;
  /** Pools created in blocks that may be undone, and the first of these blocks. */
  undoable: ReadonlySet<ServedPool>;
  undoableFrom: number;
  /** Capture time of the newest report that was read, microseconds since 1970. */
  reportedUs: number;
  /** Pools that were funded at the last read by capture. */
  readonly funded: Set<Address>;
  /** Ages, and when they were read; null while the database does not answer. */
  ages: (ChainRow & { readonly at: number }) | null;
}

const newChain = (config: ChainConfig): CatalogChain => ({
  config,
  maker: new PoolMaker(config),
  undoable: new Set(),
  undoableFrom: 0,
  reportedUs: 0,
  funded: new Set(),
  ages: null,
});

/**
 * Knows which pools there are, and what the database says about them. It loads all once. Then one poll, independent of
 * requests, reads what changed:
 *
 * 1. Pools do not change within an index. New pools are found by their block. Pools that a reorganisation undid are
 *    found by their absence.
 * 2. All pools are read again when another index is served, calibration decided, or an operator delisted a pool or
 *    listed it again.
 */
export class PoolCatalog implements PoolDirectory {
  readonly #deps: PoolCatalogDeps;
  readonly #outage: OutageLog;
  readonly #table = new PoolTable();
  readonly #chains: ReadonlyMap<number, CatalogChain>;
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
    this.#chains = new Map(deps.chains.map((chain) => [chain.chainId, newChain(chain)]));
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
    return this.#chains.get(chainId)?.funded.has(address) === true;
  }

  /** How old prices and the listing are; null while the database does not answer. */
  ages(chainId: number): DataAges {
    const known = this.#chains.get(chainId)?.ages;
    const age = (secs: number | null | undefined) =>
      known && typeof secs === 'number' ? Math.max(0, Math.floor(secs + (this.#deps.now() - known.at) / 1_000)) : null;
    return {
      newestPriceAgeSecs: age(known?.newest),
      oldestPriceAgeSecs: age(known?.oldest),
      listingAgeSecs: age(known?.listing),
      fiatPriceAgeSecs: age(known?.fiatPrice),
      fiatPricesLost: known?.isFiatLost ?? false,
    };
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
      for (const chain of this.#chains.values()) chain.ages = null;
      if (!this.#isStopped) this.#outage.failed(error);
    }
  }

  async #readChanges(): Promise<void> {
    const database = this.#deps.database.$client;
    const { epoch, ...calibration } = await readDecisions(database);
    const isReload = epoch !== this.#epoch;
    for (const chain of this.#chains.values()) {
      const row = await readChain(database, chain.config.chainId);
      chain.ages = { ...row, at: this.#deps.now() };
      await this.#readPools(chain, row.head, isReload, calibration);
      await this.#readReports(chain, isReload);
    }
    this.#epoch = epoch;
  }

  async #readPools(chain: CatalogChain, head: number | null, isReload: boolean, by: Calibration): Promise<void> {
    const { chainId } = chain.config;
    const database = this.#deps.database.$client;
    const slices = isReload ? readAllPools(database, chainId) : readPoolsSince(database, chainId, chain.undoableFrom);
    const removed = new Set(isReload ? this.#table.ofChain(chainId) : chain.undoable);
    const undoableFrom = Math.max(0, (head ?? 0) - MAX_UNDONE_BLOCKS);
    const undoable = new Set<ServedPool>();
    for await (const rows of slices) {
      await forEachYielding(rows, (row) => {
        const pool = this.#put(chain, row, by);
        if (!pool) return;
        removed.delete(pool);
        if (row.block >= undoableFrom) undoable.add(pool);
      });
    }
    await forEachYielding(removed, (pool) => this.#table.remove(pool, 'not_served'));
    chain.undoable = undoable;
    chain.undoableFrom = undoableFrom;
  }

  /** Adds or updates a pool. An unchanged pool stays the same object: what is derived from it is kept per object. */
  #put({ config: { chainId }, maker }: CatalogChain, row: PoolRow, by: Calibration): ServedPool | null {
    const known = this.#table.find(chainId, row.address);
    if (known && row.isDelisted) this.#table.remove(known, 'delisted');
    const pool = row.isDelisted ? null : maker.make(row, by);
    if (known && isDeepStrictEqual(known, pool)) return known;
    if (pool) this.#table.put(pool);
    return pool;
  }

  async #readReports(chain: CatalogChain, isReload: boolean): Promise<void> {
    const { chainId } = chain.config;
    const since = isReload ? 0 : chain.reportedUs - CAPTURE_US;
    for await (const rows of readReports(this.#deps.database.$client, chainId, since)) {
      await forEachYielding(rows, ({ address, capturedUs, isFunded, ...report }) => {
        const pool = this.#table.find(chainId, address);
        if (pool) this.#onReport(pool, report);
        if (isFunded) chain.funded.add(address);
        else chain.funded.delete(address);
        chain.reportedUs = capturedUs;
      });
    }
  }
}
