import { and, desc, eq, lte, type SQL, sql } from 'drizzle-orm';
import { queriesOn } from '../../db/query-builder.ts';
import { swaps } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';

/** Place of a log on its chain. */
export type LogPosition = { readonly blockNumber: number; readonly logIndex: number };

export type TradeRow = Awaited<ReturnType<typeof selectTrades>>[number];

/**
 * The newest swaps of a pool, newest first. They are read in the order of the index on pool and time, however many swaps
 * the chain has.
 *
 * @param before only older ones; null: from the newest
 */
export function selectTrades(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  before: LogPosition | null,
  limit: number,
) {
  const { blockNumber, blockTimestamp, logIndex, transactionHash, sender, recipient } = swaps;
  const { zeroForOne, amount0Raw, amount1Raw } = swaps;
  const place = { blockNumber, blockTimestamp, logIndex, transactionHash };
  return queriesOn(database)
    .select({ ...place, sender, recipient, zeroForOne, amount0Raw, amount1Raw })
    .from(swaps)
    .where(
      and(eq(swaps.chainId, chainId), eq(swaps.pool, address), before === null ? undefined : older(chainId, before)),
    )
    .orderBy(desc(blockTimestamp), desc(blockNumber), desc(logIndex))
    .limit(limit);
}

/** The condition on the time follows from the others; with it the index begins at the cursor. */
function older(chainId: number, { blockNumber, logIndex }: LogPosition): SQL | undefined {
  const at = sql`(SELECT s.block_timestamp FROM ${swaps} s
    WHERE s.chain_id = ${chainId} AND s.block_number >= ${blockNumber} ORDER BY s.block_number LIMIT 1)`;
  return and(
    sql`(${swaps.blockNumber}, ${swaps.logIndex}) < (${blockNumber}::int8, ${logIndex}::int4)`,
    lte(swaps.blockTimestamp, sql`coalesce(${at}, ${Number.MAX_SAFE_INTEGER}::int8)`),
  );
}
