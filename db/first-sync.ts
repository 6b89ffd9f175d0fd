import { sql } from 'drizzle-orm';
import { queriesOn } from './query-builder.ts';
import { firstSyncs } from './schema/operator.ts';
import type { Queryable } from './transaction.ts';

/** How far the first index of a chain has come. */
export type FirstSync = {
  readonly chainId: number;
  /** Last indexed block; null while the indexer has only fetched logs. */
  readonly blockNumber: number | null;
  /** Logs that the nodes have given since the indexer started. */
  readonly logs: number;
};

/**
 * Progress of each chain's first index, by chain id. Chains whose first index has not begun, or serves, are missing.
 */
export async function readFirstSyncs(database: Queryable): Promise<ReadonlyMap<number, FirstSync>> {
  const { chainId, blockNumber, logs } = firstSyncs;
  const rows = await queriesOn(database).select({ chainId, blockNumber, logs }).from(firstSyncs);
  return new Map(rows.map((row) => [row.chainId, row]));
}

/** Writes the progress of the first index. */
export async function writeFirstSyncs(database: Queryable, rows: readonly FirstSync[]): Promise<void> {
  if (rows.length === 0) return;
  await queriesOn(database)
    .insert(firstSyncs)
    .values([...rows])
    .onConflictDoUpdate({
      target: firstSyncs.chainId,
      set: { blockNumber: sql`excluded.block_number`, logs: sql`excluded.logs`, updatedAt: sql`now()` },
    });
}

/** The first index is complete. */
export async function forgetFirstSyncs(database: Queryable): Promise<void> {
  await queriesOn(database).delete(firstSyncs);
}
