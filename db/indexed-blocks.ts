import { queriesOn } from './query-builder.ts';
import { indexedBlocks } from './schema/read-model.ts';
import type { Queryable } from './transaction.ts';

/** A block, with the fields that both the index and a node report. */
export type BlockPoint = {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
};

/**
 * Reads the newest block of each chain that the serving index has indexed. Blocks without events count too.
 *
 * @returns blocks by chain id; chains that were never indexed are missing
 * @throws an error of Postgres, also when no index is complete yet
 */
export async function readIndexedBlocks(database: Queryable): Promise<ReadonlyMap<number, BlockPoint>> {
  const { chainId, blockNumber: number, blockTimestamp: timestamp } = indexedBlocks;
  const rows = await queriesOn(database).select({ chainId, number, timestamp }).from(indexedBlocks);
  return new Map(rows.map((row) => [row.chainId, { number: row.number, timestamp: row.timestamp }]));
}
