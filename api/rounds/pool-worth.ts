import { and, asc, eq, gt, gte } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Database } from '../../db/connection.ts';
import { poolListings } from '../../db/schema/operator.ts';
import type { Logger } from '../../runtime/logger.ts';

export interface PoolWorthDeps {
  readonly database: Database;
  readonly chains: readonly ChainConfig[];
  readonly logger: Logger;
}

const REFRESH_MS = 30_000;
/** Rows read at a time: so many are parsed without a pause. */
const SLICE = 2_000;

/**
 * Knows which pools hold at least their chain's `readBudget.minWorthUsd` in priced tokens, as listed: reads it now and every
 * half minute, and keeps what it knew while the database does not answer.
 */
export class PoolWorth {
  readonly #deps: PoolWorthDeps;
  readonly #pools = new Map<number, ReadonlySet<Address>>();
  readonly #timer: NodeJS.Timeout;
  #isReading = false;
  #isStopped = false;

  constructor(deps: PoolWorthDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS).unref();
    void this.#refresh();
  }

  /** False while it is not known. */
  has(chainId: number, pool: Address): boolean {
    return this.#pools.get(chainId)?.has(pool) === true;
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #refresh(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (const chain of this.#deps.chains) if (!this.#isStopped) await this.#readChain(chain);
    } catch (error) {
      if (!this.#isStopped)
        this.#deps.logger.warn({ err: error }, 'worth of pools was not read: the last known counts');
    } finally {
      this.#isReading = false;
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
            gte(tvlFiat, readBudget.minWorthUsd),
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
