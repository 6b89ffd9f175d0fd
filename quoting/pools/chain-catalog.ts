import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import { forEachYielding } from '../../runtime/for-each-yielding.ts';
import {
  type Calibration,
  type ChainRow,
  type FaultyNode,
  type PoolRow,
  type ReportRow,
  readAllPools,
  readChain,
  readPoolsSince,
  readReports,
} from './catalog-rows.ts';
import type { PoolTable, ServedPool } from './pool-directory.ts';
import { PoolMaker } from './pool-maker.ts';

/** The last read of a pool by capture. */
export type PoolReport = Omit<ReportRow, 'address' | 'capturedUs' | 'isFunded'>;

/** How current and how complete the data of a chain is: ages in whole seconds, null when not known. */
export interface DataAges {
  readonly newestPriceAgeSecs: number | null;
  readonly oldestPriceAgeSecs: number | null;
  readonly listingAgeSecs: number | null;
  /** Of the newest token price that the price source gave. */
  readonly fiatPriceAgeSecs: number | null;
  /** Whether pools are listed, but no token price is new enough to be shown. False when not known. */
  readonly fiatPricesLost: boolean;
  readonly audit: IndexAudit;
  readonly faultyNodes: readonly FaultyNode[];
}

/** What the comparison of the index with the chain found. Blocks and times are null when not known. */
export interface IndexAudit {
  /** Newest block at which any pool was compared. */
  readonly auditedToBlock: number | null;
  /** Pools and factories that no node gave at their last comparison. */
  readonly unreadPools: number;
  /** Pools whose index is not what the chain holds, with the last block at which both agreed. */
  readonly differingPools: readonly { readonly poolAddress: Address; readonly agreedBlock: number | null }[];
  /** Factories of which the index has more or fewer pools than the chain. */
  readonly differingFactories: readonly { readonly factory: Address; readonly agreedBlock: number | null }[];
  /** When a difference was last seen, Unix seconds. */
  readonly lastDifferenceAt: number | null;
}

export interface ChainCatalogDeps {
  readonly config: ChainConfig;
  readonly database: pg.Pool;
  /** Gets the pools. */
  readonly table: PoolTable;
  /** Takes each report of a served pool, once or more often. */
  readonly onReport: (pool: ServedPool, report: PoolReport) => void;
  readonly now: Clock;
}

/** Of a chain whose index was not compared. */
export const NO_AUDIT: IndexAudit = {
  auditedToBlock: null,
  unreadPools: 0,
  differingPools: [],
  differingFactories: [],
  lastDifferenceAt: null,
};

/** Ponder undoes at most this many blocks: two windows of finality, of at most 240 blocks each. */
const MAX_UNDONE_BLOCKS = 480;
/** How long capture may take from start to commit of a statement. Rows of a longer one show after their next read. */
const CAPTURE_US = 1_000_000;

/**
 * Knows the pools of one chain, and what the database says about them. Pools do not change within an index. New pools
 * are found by their block, pools that a reorganisation undid by their absence.
 */
export class ChainCatalog {
  readonly #deps: ChainCatalogDeps;
  readonly #maker: PoolMaker;
  /** Pools created in blocks that may be undone, and the first of these blocks. */
  #undoable: ReadonlySet<ServedPool> = new Set();
  #undoableFrom = 0;
  /** Capture time of the newest report that was read, microseconds since 1970. */
  #reportedUs = 0;
  /** Pools that were funded at the last read by capture. */
  readonly #funded = new Set<Address>();
  /** Ages, and when they were read; null while the database does not answer. */
  #ages: (ChainRow & { readonly at: number }) | null = null;

  constructor(deps: ChainCatalogDeps) {
    this.#deps = deps;
    this.#maker = new PoolMaker(deps.config);
  }

  /** Reads what changed. @param isReload whether all is read again */
  async read(by: Calibration, isReload: boolean): Promise<void> {
    const { database, config, now } = this.#deps;
    const row = await readChain(database, config.chainId);
    this.#ages = { ...row, at: now() };
    await this.#readPools(row.head, isReload, by);
    await this.#readReports(isReload);
  }

  /** Notes that the database does not answer. */
  forgetAges(): void {
    this.#ages = null;
  }

  /** Whether capture says that the pool is funded; false while not known. */
  isFunded(address: Address): boolean {
    return this.#funded.has(address);
  }

  /** How old prices and the listing are; null while the database does not answer. */
  ages(): DataAges {
    const known = this.#ages;
    const age = (secs: number | null | undefined) =>
      known && typeof secs === 'number' ? Math.max(0, Math.floor(secs + (this.#deps.now() - known.at) / 1_000)) : null;
    return {
      newestPriceAgeSecs: age(known?.newest),
      oldestPriceAgeSecs: age(known?.oldest),
      listingAgeSecs: age(known?.listing),
      fiatPriceAgeSecs: age(known?.fiatPrice),
      fiatPricesLost: known?.isFiatLost ?? false,
      audit: known ? indexAudit(known) : NO_AUDIT,
      faultyNodes: known?.faultyNodes ?? [],
    };
  }

  async #readPools(head: number | null, isReload: boolean, by: Calibration): Promise<void> {
    const { database, config, table } = this.#deps;
    const { chainId } = config;
    const slices = isReload ? readAllPools(database, chainId) : readPoolsSince(database, chainId, this.#undoableFrom);
    const removed = new Set(isReload ? table.ofChain(chainId) : this.#undoable);
    const undoableFrom = Math.max(0, (head ?? 0) - MAX_UNDONE_BLOCKS);
    const undoable = new Set<ServedPool>();
    for await (const rows of slices) {
      await forEachYielding(rows, (row) => {
        const pool = this.#put(row, by);
        if (!pool) return;
        removed.delete(pool);
        if (row.block >= undoableFrom) undoable.add(pool);
      });
    }
    await forEachYielding(removed, (pool) => table.remove(pool, 'not_served'));
    this.#undoable = undoable;
    this.#undoableFrom = undoableFrom;
  }

  /** Adds or updates a pool. An unchanged pool stays the same object: what is derived from it is kept per object. */
  #put(row: PoolRow, by: Calibration): ServedPool | null {
    const { table, config } = this.#deps;
    const known = table.find(config.chainId, row.address);
    if (known && row.isDelisted) table.remove(known, 'delisted');
    const pool = row.isDelisted ? null : this.#maker.make(row, by);
    if (known && isDeepStrictEqual(known, pool)) return known;
    if (pool) table.put(pool);
    return pool;
  }

  async #readReports(isReload: boolean): Promise<void> {
    const { database, config, table, onReport } = this.#deps;
    const since = isReload ? 0 : this.#reportedUs - CAPTURE_US;
    for await (const rows of readReports(database, config.chainId, since)) {
      await forEachYielding(rows, ({ address, capturedUs, isFunded, ...report }) => {
        const pool = table.find(config.chainId, address);
        if (pool) onReport(pool, report);
        if (isFunded) this.#funded.add(address);
        else this.#funded.delete(address);
        this.#reportedUs = capturedUs;
      });
    }
  }
}

function indexAudit({ auditedToBlock, unreadPools, differing, lastDifferenceAt }: ChainRow): IndexAudit {
  const rows = differing ?? [];
  return {
    auditedToBlock,
    unreadPools,
    differingPools: rows
      .filter(({ address, factory }) => address !== factory)
      .map(({ address: poolAddress, agreedBlock }) => ({ poolAddress, agreedBlock })),
    differingFactories: rows
      .filter(({ address, factory }) => address === factory)
      .map(({ factory, agreedBlock }) => ({ factory, agreedBlock })),
    lastDifferenceAt: lastDifferenceAt === null ? null : Math.floor(lastDifferenceAt),
  };
}
