import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import { inTurns } from '../../runtime/in-turns.ts';
import type { Logger } from '../../runtime/logger.ts';
import { internalError, unavailable } from '../errors.ts';
import { type PoolDirectory, PoolTable, type ServedPool } from './pool-directory.ts';
import { createPoolReader, type PoolKey, PoolMaker, type PoolRow, readEpoch } from './sql-pool-directory-rows.ts';

export interface SqlPoolDirectoryDeps {
  readonly database: Database;
  readonly chains: readonly ChainConfig[];
  readonly logger: Logger;
  readonly pace?: Partial<DirectoryPace>;
}

export interface DirectoryPace {
  /** How often the database is asked for changes. */
  readonly pollMs: number;
  /** Pools compared again with each poll, and most of the newest that are read, in whole slices. */
  readonly comparedPerPoll: number;
  /** Pools read at a time: so many are parsed without a pause. */
  readonly slice: number;
}

const PACE: DirectoryPace = { pollMs: 2_000, comparedPerPoll: 1_000, slice: 100 };
/** New pools are looked for this many blocks before the newest one known: a reorganisation may put others there. */
const RECENT_BLOCKS = 32;

/** A reading of all pools in the order of their keys. */
interface Pass {
  /** The last key read. */
  after: PoolKey | null;
  /** Pools that the database had. What is not among them at the end is gone. */
  readonly seen: Set<ServedPool>;
}

/**
 * The pool directory over the read model: held in memory and kept up to date beside the requests, in slices that leave
 * the event loop free. Each poll reads the newest pools, or the next part of them when strangers made many at once, and
 * compares a part of the others. All are compared at once when another index is served or the delisted pools changed.
 */
export class SqlPoolDirectory implements PoolDirectory {
  readonly #deps: SqlPoolDirectoryDeps;
  readonly #pace: DirectoryPace;
  readonly #timer: NodeJS.Timeout;
  readonly #maker: PoolMaker;
  readonly #read: ReturnType<typeof createPoolReader>;
  readonly #table = new PoolTable();
  /** By chain, the block of its newest pool. */
  readonly #newest = new Map<number, number>();
  /** The last of the newest pools that was read; null when the reading of them begins anew. */
  #afterNewest: PoolKey | null = null;
  #pass = newPass();
  /** Of the last reading of all pools. */
  #epoch: string | undefined;
  /** Factories that are left out. */
  #unreadable: ReadonlySet<string> = new Set();
  #refreshing: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: SqlPoolDirectoryDeps) {
    this.#deps = deps;
    this.#pace = { ...PACE, ...deps.pace };
    this.#maker = new PoolMaker(deps.chains);
    const chainIds = deps.chains.map(({ chainId }) => chainId);
    this.#read = createPoolReader(deps.database, chainIds, this.#pace.slice);
    this.#timer = setInterval(() => this.#refreshQuietly(), this.#pace.pollMs).unref();
  }

  async table(): Promise<PoolTable> {
    if (this.#epoch !== undefined) return this.#table;
    try {
      await this.#refresh();
      return this.#table;
    } catch (error) {
      throw (await isTemporaryFailure(error, this.#deps.database.$client)) ? unavailable(error) : internalError(error);
    }
  }

  /** Ends the refreshing. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #refreshQuietly(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'the pool directory was not refreshed: what is known is served');
    }
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#poll().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #poll(): Promise<void> {
    const { epoch, calibration } = await readEpoch(this.#deps.database);
    if (epoch !== this.#epoch) {
      this.#leaveOut(calibration.unreadable);
      this.#maker.use(calibration);
      await this.#readAll();
      this.#epoch = epoch;
      return;
    }
    await this.#readNewest();
    const { comparedPerPoll, slice } = this.#pace;
    for (let left = comparedPerPoll; left > 0; left -= slice) if (await this.#advance()) return;
  }

  #leaveOut(unreadable: ReadonlySet<string>): void {
    const { logger } = this.#deps;
    for (const factory of unreadable) {
      if (!this.#unreadable.has(factory))
        logger.warn({ factory }, 'pools are not served: no known storage arrangement');
    }
    for (const factory of this.#unreadable) {
      if (!unreadable.has(factory)) logger.info({ factory }, 'pools are served: their storage is established');
    }
    this.#unreadable = unreadable;
  }

  async #readAll(): Promise<void> {
    this.#pass = newPass();
    this.#newest.clear();
    this.#afterNewest = null;
    // Requests wait for the first reading; later ones leave them half of the time.
    for (let start = performance.now(); !(await this.#advance()); start = performance.now()) {
      if (this.#isStopped) return;
      if (this.#epoch !== undefined) await sleep(performance.now() - start);
    }
  }

  /** Reads the next slice of the pass. @returns true when it was the last one: the next pass begins */
  async #advance(): Promise<boolean> {
    const pass = this.#pass;
    const { slice } = this.#pace;
    const rows = await this.#read(pass.after);
    await this.#putAll(rows);
    pass.after = rows.at(-1) ?? pass.after;
    if (rows.length === slice) return false;
    await inTurns(this.#table.pools(), (pool) => {
      if (!pass.seen.has(pool)) this.#table.remove(pool);
    });
    this.#pass = newPass();
    return true;
  }

  async #readNewest(): Promise<void> {
    const since = this.#deps.chains.map(({ chainId }) => (this.#newest.get(chainId) ?? 0) - RECENT_BLOCKS);
    const { comparedPerPoll, slice } = this.#pace;
    for (let left = comparedPerPoll; left > 0 && !this.#isStopped; left -= slice) {
      const rows = await this.#read(this.#afterNewest, since);
      await this.#putAll(rows);
      this.#afterNewest = rows.length < slice ? null : (rows.at(-1) ?? null);
      if (!this.#afterNewest) return;
    }
  }

  #putAll(rows: readonly PoolRow[]): Promise<void> {
    return inTurns(rows, (row) => {
      const newest = this.#newest.get(row.chainId) ?? 0;
      if (row.createdBlockNumber > newest) this.#newest.set(row.chainId, row.createdBlockNumber);
      const pool = this.#maker.make(row);
      if (pool) this.#put(pool);
    });
  }

  /** What is derived from a pool is kept by its identity: one that did not change stays. */
  #put(pool: ServedPool): void {
    const known = this.#table.find(pool.chainId, pool.address);
    const isKnown = known !== undefined && isSame(known, pool);
    if (!isKnown) this.#table.put(pool);
    this.#pass.seen.add(isKnown ? known : pool);
  }
}

/** All fields of pools that one maker made: most are shared objects or plain values, so few are looked into. */
function isSame(known: ServedPool, pool: ServedPool): boolean {
  const fields = Object.keys(pool) as (keyof ServedPool)[];
  return fields.every((field) => known[field] === pool[field] || isDeepStrictEqual(known[field], pool[field]));
}

const newPass = (): Pass => ({ after: null, seen: new Set() });
