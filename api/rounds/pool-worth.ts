import { and, asc, eq, gt, gte } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { poolListings } from '../../db/schema/operator.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';

export interface PoolWorthDeps {
  readonly database: Database;
  readonly chains: readonly ChainConfig[];
  readonly logger: Logger;
}

const REFRESH_MS = 30_000;
/** Rows read at a time: so many are parsed without a pause. */
const SLICE = 2_000;

/**
 * Knows which pools hold at least their chain's `readBudget.minFundedUsd` in priced tokens, as listed: reads it now and half
 * a minute after each reading, and keeps what it knew while the database does not answer.
 */
export class PoolWorth {
  readonly #deps: PoolWorthDeps;
  readonly #pools = new Map<number, ReadonlySet<Address>>();
  readonly #stopReading: () => void;
  #isStopped = false;

  constructor(deps: PoolWorthDeps) {
    this.#deps = deps;
    this.#stopReading = startRepeating(() => this.#refresh(), REFRESH_MS);
  }

  /** False while it is not known. */
  has(chainId: number, pool: Address): boolean {
    return this.#pools.get(chainId)?.has(pool) === true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopReading();
  }

  async #refresh(): Promise<void> {
    try {
      for (const chain of this.#deps.chains) if (!this.#isStopped) await this.#readChain(chain);
    } catch (error) {
      if (!this.#isStopped)
        this.#deps.logger.warn({ err: error }, 'worth of pools was not read: the last known counts');
    }
  }

  async #readChain({ chainId, readBudget }: ChainConfig): Promise<void> {
    const { pool, tvlFiat } = poolListings;
    const found = new Set<Address>();
    let rows: { readonly pool: Address }[];
    let after: Address | undefined;
    do {
      rows = await this.#deps.database
        .select({ pool })
        .from(poolListings)
        .where(
          and(
            eq(poolListings.chainId, chainId),
            gte(tvlFiat, readBudget.minFundedUsd),
            after ? gt(pool, after) : undefined,
          ),
        )
        .orderBy(asc(pool))
        .limit(SLICE);
      for (const row of rows) found.add(row.pool);
      after = rows.at(-1)?.pool;
    } while (rows.length === SLICE);
    this.#pools.set(chainId, found);
  }
}
