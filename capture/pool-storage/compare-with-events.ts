import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import type { Queryable } from '../../db/transaction.ts';

/**
 * Pools of each chain whose bins, summed up from their events, are not what their storage says in total. Compared are pools
 * of factories whose deltas are known to be scaled, in which nothing happened since the storage was read, and whose index
 * is as far as that block.
 */
export async function poolsUnlikeStorage(database: Queryable): Promise<ReadonlyMap<number, readonly string[]>> {
  const { rows } = await queriesOn(database).execute<{ chain_id: string; pools: string[] }>(sql`
    SELECT s.chain_id, array_agg(s.pool::text ORDER BY s.pool) AS pools
    FROM operator.pool_storage s
    JOIN read_model.pool p ON p.chain_id = s.chain_id AND p.address = s.pool
    JOIN operator.layout_calibration c ON c.chain_id = p.chain_id AND c.factory = p.factory
      AND c.what = 'deltaScale' AND c.decided = 'scaled'
    JOIN read_model.pool_state t ON t.chain_id = s.chain_id AND t.pool = s.pool AND t.block_number <= s.block_number
    JOIN read_model.indexed_block i ON i.chain_id = s.chain_id AND i.block_number >= s.block_number
    JOIN (
      SELECT chain_id, pool, sum(liquidity0_scaled + swap_delta0) AS total0, sum(liquidity1_scaled + swap_delta1) AS total1
      FROM read_model.packed_bins() GROUP BY chain_id, pool
    ) b ON b.chain_id = s.chain_id AND b.pool = s.pool
    WHERE s.total0_scaled IS NOT NULL AND (b.total0, b.total1) IS DISTINCT FROM (s.total0_scaled, s.total1_scaled)
    GROUP BY s.chain_id`);
  return new Map(rows.map(({ chain_id, pools }) => [Number(chain_id), pools]));
}

/** Told after each round how many pools of a chain have other bins by events than by storage. */
export type OnBinsCompared = (chainId: number, pools: number) => void;

type ComparisonDeps = {
  readonly file: ChainsFile;
  readonly database: pg.Pool;
  readonly onBinsCompared?: OnBinsCompared;
};

/** @returns number of pools whose bins are not what their storage says */
export async function compareBins({ file, database, onBinsCompared }: ComparisonDeps): Promise<number> {
  const unlike = await poolsUnlikeStorage(database);
  for (const { chainId } of file.chains) onBinsCompared?.(chainId, unlike.get(chainId)?.length ?? 0);
  return [...unlike.values()].flat().length;
}
