import { isDeepStrictEqual } from 'node:util';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import { inTurns } from '../../runtime/in-turns.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { internalError, unavailable } from '../errors.ts';
import {
  type ChainRow,
  createRowReader,
  type PoolRow,
  type ReportRow,
  readChain,
  readDecisions,
  readDelisted,
} from './catalog-rows.ts';
import { type PoolDirectory, PoolTable, type ServedPool } from './pool-directory.ts';
import { type Calibration, PoolMaker } from './pool-maker.ts';

/** What capture read last of a pool. */
export type PoolReport = Omit<ReportRow, 'address' | 'capturedUs'>;

export interface PoolCatalogDeps {
  readonly database: Database;
  readonly chains: readonly ChainConfig[];
  readonly logger: Logger;
  /** Takes what capture read of a served pool, each report once or more, and null of a pool that is no longer served. */
  readonly onReport?: (pool: ServedPool, report: PoolReport | null) => void;
  readonly pace?: {
    /** Milliseconds from the end of a poll to the next. */
    readonly pollMs?: number;
    /** Rows read at a time. */
    readonly slice?: number;
  };
}

/** Whole seconds; null when not known. */
export interface DataAges {
  readonly newestPriceAgeSecs: number | null;
  readonly oldestPriceAgeSecs: number | null;
  readonly listingAgeSecs: number | null;
}

const POLL_MS = 2_000;
const SLICE = 200;
/** Ponder undoes no more blocks: two windows of finality, of at most 240. */
const MAX_UNDONE_BLOCKS = 480;
/** A statement of capture that takes longer from its start to its commit shows with the next read of its pools. */
const CAPTURE_US = 1_000_000;

/** What is known of a chain beside its pools. */
class CatalogChain {
  readonly config: ChainConfig;
  readonly maker: PoolMaker;
  /** Pools of blocks that may be undone, and the first of these blocks. */
  undoable: Set<ServedPool> = new Set();
  undoableFrom = 0;
  /** When the newest report that was read was captured, microseconds. */
  reportedUs = 0;
  funded: ReadonlySet<Address> = new Set();
  /** Ages at a time of `performance.now()`; null while the database does not answer. */
  ages: (ChainRow & { readonly at: number }) | null = null;

  constructor(config: ChainConfig) {
    this.config = config;
    this.maker = new PoolMaker(config);
  }
}

/**
 * Which pools there are, and what is known of them without a look at the chain: loaded from the database once, then kept up
 * to date beside the requests by one poll, which reads what changed. Pools do not change within an index: new ones are found
 * by their block, those that a reorganisation undid by their absence. All are read again when another index is served,
 * calibration decided, or a pool is listed again.
 */
export class PoolCatalog implements PoolDirectory {
  readonly #deps: PoolCatalogDeps;
  readonly #rows: ReturnType<typeof createRowReader>;
  readonly #table = new PoolTable();
  readonly #chains: ReadonlyMap<number, CatalogChain>;
  readonly #stopPolling: () => void;
  #calibration: Calibration = { unreadable: new Set(), stopLossMarks: new Map() };
  #epoch = '';
  #delistings = '';
  /** By chain and address. */
  #delisted: ReadonlySet<string> = new Set();
  #isLoaded = false;
  #mustReload = true;
  #isStopped = false;
  #polling: Promise<void> | undefined;

  constructor(deps: PoolCatalogDeps) {
    const { pollMs = POLL_MS, slice = SLICE } = deps.pace ?? {};
    this.#deps = deps;
    this.#rows = createRowReader(deps.database.$client, slice);
    this.#chains = new Map(deps.chains.map((chain) => [chain.chainId, new CatalogChain(chain)]));
    this.#table.onChange((pool, removal) => {
      if (removal) deps.onReport?.(pool, null);
    });
    this.#stopPolling = startRepeating(() => this.#pollQuietly(), pollMs);
  }

  async table(): Promise<PoolTable> {
    if (this.#isLoaded) return this.#table;
    try {
      await this.#poll();
      return this.#table;
    } catch (error) {
      throw (await isTemporaryFailure(error, this.#deps.database.$client)) ? unavailable(error) : internalError(error);
    }
  }

  /** Whether the pool holds its chain's `readBudget.minFundedUsd` in priced tokens, as listed; false while not known. */
  isFunded({ chainId, address }: Pick<ServedPool, 'chainId' | 'address'>): boolean {
    return this.#chains.get(chainId)?.funded.has(address) === true;
  }

  /** How old prices and the listing are; null while the database does not answer. */
  ages(chainId: number): DataAges {
    const known = this.#chains.get(chainId)?.ages;
    const age = (secs: number | null | undefined) =>
      known && typeof secs === 'number' ? Math.max(0, Math.floor(secs + (performance.now() - known.at) / 1_000)) : null;
    return {
      newestPriceAgeSecs: age(known?.newest),
      oldestPriceAgeSecs: age(known?.oldest),
      listingAgeSecs: age(known?.listing),
    };
  }

  /** Ends the polls. */
  stop(): void {
    this.#isStopped = true;
    this.#stopPolling();
  }

  async #pollQuietly(): Promise<void> {
    try {
      await this.#poll();
    } catch (error) {
      for (const chain of this.#chains.values()) chain.ages = null;
      if (this.#isStopped) return;
      this.#deps.logger.warn({ err: error }, 'failed to refresh the pool catalog: what is known is served');
    }
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#readChanges().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #readChanges(): Promise<void> {
    const database = this.#deps.database.$client;
    const { delistings, epoch, ...calibration } = await readDecisions(database);
    if (epoch !== this.#epoch) this.#mustReload = true;
    this.#logUnreadable(calibration);
    this.#calibration = calibration;
    this.#epoch = epoch;
    if (delistings !== this.#delistings) await this.#readDelisted();
    this.#delistings = delistings;
    for (const chain of this.#chains.values()) {
      if (this.#isStopped) return;
      const { chainId, readBudget } = chain.config;
      const row = await readChain(database, chainId, readBudget.minFundedUsd);
      chain.ages = { ...row, at: performance.now() };
      chain.funded = new Set(row.funded);
      await this.#readPools(chain, row.head);
      await this.#readReports(chain);
    }
    this.#mustReload = false;
    this.#isLoaded = true;
  }

  #logUnreadable({ unreadable }: Calibration): void {
    const { logger } = this.#deps;
    const before = this.#calibration.unreadable;
    const lost = [...unreadable].filter((factory) => !before.has(factory));
    const found = [...before].filter((factory) => !unreadable.has(factory));
    for (const factory of lost) logger.warn({ factory }, 'pools are not served: no known storage arrangement');
    for (const factory of found) logger.info({ factory }, 'pools are served: their storage is established');
  }

  async #readDelisted(): Promise<void> {
    const rows = await readDelisted(this.#deps.database.$client);
    const delisted = new Set(rows.map(poolKey));
    if ([...this.#delisted].some((key) => !delisted.has(key))) this.#mustReload = true;
    this.#delisted = delisted;
    for (const { chainId, address } of rows) {
      const pool = this.#table.find(chainId, address);
      if (pool) this.#table.remove(pool, 'delisted');
    }
  }

  async #readPools(chain: CatalogChain, head: number | null): Promise<void> {
    const { chainId } = chain.config;
    const undoableFrom = Math.max(0, (head ?? 0) - MAX_UNDONE_BLOCKS);
    const seen = new Set<ServedPool>();
    const undoable = new Set<ServedPool>();
    const { pools, poolsSince } = this.#rows;
    for await (const rows of this.#mustReload ? pools(chainId, '') : poolsSince(chainId, chain.undoableFrom, '')) {
      if (this.#isStopped) return;
      for (const row of rows) {
        const pool = this.#put(chain, row);
        if (!pool) continue;
        seen.add(pool);
        chain.undoable.add(pool);
        if (row.block >= undoableFrom) undoable.add(pool);
      }
    }
    await inTurns(this.#mustReload ? this.#table.ofChain(chainId) : chain.undoable, (pool) => {
      if (!seen.has(pool)) this.#table.remove(pool, 'not_served');
    });
    chain.undoable = undoable;
    chain.undoableFrom = undoableFrom;
  }

  /** What is derived from a pool is kept by its identity: one that did not change stays. */
  #put({ config: { chainId }, maker }: CatalogChain, row: PoolRow): ServedPool | null {
    if (this.#delisted.has(poolKey({ chainId, address: row.address }))) return null;
    const pool = maker.make(row, this.#calibration);
    if (!pool) return null;
    const known = this.#table.find(chainId, row.address);
    if (known && isDeepStrictEqual(known, pool)) return known;
    this.#table.put(pool);
    return pool;
  }

  async #readReports(chain: CatalogChain): Promise<void> {
    const { chainId } = chain.config;
    const since = this.#mustReload ? 0 : chain.reportedUs - CAPTURE_US;
    for await (const rows of this.#rows.reportsSince(chainId, since, '')) {
      if (this.#isStopped) return;
      for (const { address, capturedUs, ...report } of rows) {
        const pool = this.#table.find(chainId, address);
        if (pool) this.#deps.onReport?.(pool, report);
        chain.reportedUs = capturedUs;
      }
    }
  }
}

const poolKey = ({ chainId, address }: Pick<ServedPool, 'chainId' | 'address'>): string => `${chainId}:${address}`;
