import type { Queryable } from './transaction.ts';

/** A block, by what the index and a node both tell of it. */
export type BlockPoint = {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
};

type Row = { readonly chain_id: string; readonly block_number: string; readonly block_timestamp: string };

/**
 * The newest block of each chain that the serving index has taken in, blocks without events included.
 *
 * @returns by chain id; a chain that was never indexed is missing
 * @throws an error of Postgres, also when no index is complete yet
 */
export async function readIndexedBlocks(database: Queryable): Promise<ReadonlyMap<number, BlockPoint>> {
  const { rows } = await database.query<Row>(
    'SELECT chain_id, block_number, block_timestamp FROM read_model.indexed_block',
  );
  return new Map(
    rows.map((row) => [
      Number(row.chain_id),
      { number: Number(row.block_number), timestamp: Number(row.block_timestamp) },
    ]),
  );
}
