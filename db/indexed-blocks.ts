import { queriesOn } from './query-builder.ts';
import { indexedBlocks } from './schema/read-model.ts';
import type { Queryable } from './transaction.ts';

/** A block, by what the index and a node both report of it. */
export type BlockPoint = {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
};

/**
 * The newest block of each chain that the serving index has taken in, blocks without events included.
 *
 * @returns by chain id; a chain that was never indexed is missing
 * @throws an error of Postgres, also when no index is complete yet
 */
export async function readIndexedBlocks(database: Queryable): Promise<ReadonlyMap<number, BlockPoint>> {
  const rows = await queriesOn(database).select().from(indexedBlocks);
  return new Map(
    rows.map(({ chainId, blockNumber, blockTimestamp }) => [
      chainId,
      { number: blockNumber, timestamp: blockTimestamp },
    ]),
  );
}
