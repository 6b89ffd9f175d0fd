import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { SealedPools } from '../../quoting/parts/divergence.ts';

/** What was compared of a pool in an hour, and is not stored yet. */
interface SealedCount {
  readonly pool: Address;
  /** Unix seconds. */
  readonly hourTs: number;
  readonly compared: number;
  readonly same: number;
}

const HOUR = 3_600;

const countSealed = loadStatement<Pick<SealedCount, 'pool' | 'hourTs'>>('./count-sealed.sql', import.meta.url);

const keyOf = ({ pool, hourTs }: Pick<SealedCount, 'pool' | 'hourTs'>): string => `${pool} ${hourTs}`;

/**
 * Counts, by pool and hour, the sealed blocks that processes of the API compare with their last part. Each capture
 * counts all: of several, shares are the same.
 */
export class SealedCounts {
  readonly #counts = new Map<string, SealedCount>();

  take({ timestamp, same, different }: SealedPools): void {
    const hourTs = Number(timestamp - (timestamp % BigInt(HOUR)));
    for (const pool of same) this.#add({ pool, hourTs, compared: 1, same: 1 });
    for (const pool of different) this.#add({ pool, hourTs, compared: 1, same: 0 });
  }

  /**
   * Adds the counts to the samples of their hours. Those of a pool whose hour has none yet are kept for an hour.
   *
   * @throws an error of Postgres: the next run stores all
   */
  async store(database: Queryable, chainId: number): Promise<void> {
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts.values()];
    this.#counts.clear();
    const newestTs = Math.max(...counts.map(({ hourTs }) => hourTs));
    let kept = counts;
    try {
      const stored = new Set((await countSealed(database, [chainId, JSON.stringify(counts)])).map(keyOf));
      kept = counts.filter((count) => !stored.has(keyOf(count)) && newestTs - count.hourTs <= HOUR);
    } finally {
      for (const count of kept) this.#add(count);
    }
  }

  #add(count: SealedCount): void {
    const { compared = 0, same = 0 } = this.#counts.get(keyOf(count)) ?? {};
    this.#counts.set(keyOf(count), { ...count, compared: compared + count.compared, same: same + count.same });
  }
}
