import type pg from 'pg';
import type { Address } from 'viem';
import type { Executability } from '../../db/listing/executability.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Clocks } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { readInTurn } from '../read-in-turn.ts';

/**
 * In how much of the samples of this hour and the one before a pool traded; null without a sample, or while it is
 * unknown.
 */
export type PoolShares = Pick<Executability, 'committedShare' | 'liveShare'>;

export interface PoolSharesDeps extends Clocks {
  readonly chainId: number;
  /** The replica, if there is one. */
  readonly database: pg.Pool;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

const UNKNOWN: PoolShares = { committedShare: null, liveShare: null };
const HOUR_SECS = 3_600;
/** Capture takes a sample a minute. */
const KEEP_MS = 60_000;
/** What the database did not say again for so long is unknown. */
const FORGET_MS = 600_000;

const selectShares = loadStatement<PoolShares & { readonly pool: Address }>('./select-shares.sql', import.meta.url);

/**
 * The shares of a chain's pools, read again in the background as they are asked for: no frame waits for the database.
 */
export class ChainShares {
  #shares: ReadonlyMap<Address, PoolShares> = new Map();
  #triedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #outage: OutageLog;

  constructor(private readonly deps: PoolSharesDeps) {
    this.#outage = new OutageLog(deps.logger, {
      begin: 'executability is not read: price levels show what it was for ten minutes',
      end: 'executability is read again',
      now: deps.now,
    });
    this.#renew();
  }

  of(pool: Address): PoolShares {
    const now = this.deps.now();
    if (now >= this.#triedAt + KEEP_MS) this.#renew();
    return (now < this.#readAt + FORGET_MS ? this.#shares.get(pool) : undefined) ?? UNKNOWN;
  }

  #renew(): void {
    this.#triedAt = this.deps.now();
    this.#read().then(
      () => this.#outage.worked(),
      (error: unknown) => this.#outage.failed(error),
    );
  }

  async #read(): Promise<void> {
    const { chainId, database, now, wallClock } = this.deps;
    const hour = Math.floor(wallClock() / 1_000 / HOUR_SECS) * HOUR_SECS;
    const rows = await readInTurn(database, (client) => selectShares(client, [chainId, hour - HOUR_SECS]));
    this.#shares = new Map(rows.map(({ pool, ...shares }) => [pool, shares]));
    this.#readAt = now();
  }
}
