import type pg from 'pg';
import type { Address } from 'viem';
import type { Executability } from '../../db/listing/executability.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Clocks } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { readInTurn } from '../read-in-turn.ts';

/** In how much of the samples of the last 60 minutes a pool traded; null without a sample, or while it is unknown. */
export type PoolShares = Pick<Executability, 'committedShare' | 'liveShare'>;

export interface PoolSharesDeps extends Clocks {
  readonly chainId: number;
  /** The replica, if there is one. */
  readonly database: pg.Pool;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

const UNKNOWN: PoolShares = { committedShare: null, liveShare: null };
/** Capture takes a sample a minute. */
const KEEP_MS = 60_000;
/** What the database did not say again for so long is unknown. */
const FORGET_MS = 600_000;

const selectShares = loadStatement<PoolShares & { readonly pool: Address }>('./select-shares.sql', import.meta.url);

/**
 * The shares of a chain's pools, read again in the background as they are asked for: no frame waits for the database.
 */
export class ChainShares {
  readonly #deps: PoolSharesDeps;
  #shares: ReadonlyMap<Address, PoolShares> = new Map();
  #isReading = false;
  #triedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #outage: OutageLog;

  constructor(deps: PoolSharesDeps) {
    this.#deps = deps;
    this.#outage = new OutageLog(deps.logger, {
      begin: 'executability is not read: price levels show what it was for ten minutes',
      end: 'executability is read again',
      now: deps.now,
    });
    void this.#renew();
  }

  of(pool: Address): PoolShares {
    const now = this.#deps.now();
    if (!this.#isReading && now >= this.#triedAt + KEEP_MS) void this.#renew();
    return (now < this.#readAt + FORGET_MS ? this.#shares.get(pool) : undefined) ?? UNKNOWN;
  }

  async #renew(): Promise<void> {
    this.#isReading = true;
    this.#triedAt = this.#deps.now();
    try {
      await this.#read();
      this.#outage.worked();
    } catch (error) {
      this.#outage.failed(error);
    }
    this.#isReading = false;
  }

  async #read(): Promise<void> {
    const { chainId, database, now, wallClock } = this.#deps;
    const nowSecs = Math.floor(wallClock() / 1_000);
    const rows = await readInTurn(database, (client) => selectShares(client, [chainId, nowSecs]));
    this.#shares = new Map(rows.map(({ pool, ...shares }) => [pool, shares]));
    this.#readAt = now();
  }
}
