import { and, desc, eq, lte, type SQL, sql } from 'drizzle-orm';
import { loadStatement } from '../../db/load-statement.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { swaps } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';

/** Place of a log on its chain. */
export type LogPosition = { readonly blockNumber: number; readonly logIndex: number };

/** Fields of `Trade` of the contract. */
export type Fill = { readonly quotedOut: string | null; readonly vsQuoteBps: number | null };

const fillsBetween = loadStatement<Fill & { readonly place: string }>('./select-fills.sql', import.meta.url);

export type TradeRow = Awaited<ReturnType<typeof selectTrades>>[number];

/**
 * Reads the newest swaps of a pool, newest first. It follows the order of the index on pool and time, so that the
 * number of swaps on the chain does not matter.
 *
 * @param before reads only older swaps; null: from the newest
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

/** Reads what the pool quoted for the inputs of swaps, by block and log. Swaps that were not compared are missing. */
export async function selectFills(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  rows: readonly TradeRow[],
): Promise<ReadonlyMap<string, Fill>> {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (!newest || !oldest) return new Map();
  const found = await fillsBetween(database, [chainId, address, oldest.blockTimestamp, newest.blockTimestamp]);
  return new Map(found.map(({ place, ...fill }) => [place, fill]));
}

/** Condition for older swaps. The part on the time follows from the rest, but lets the index begin at the cursor. */
function older(chainId: number, { blockNumber, logIndex }: LogPosition): SQL | undefined {
  const at = sql`(SELECT s.block_timestamp FROM ${swaps} s
    WHERE s.chain_id = ${chainId} AND s.block_number >= ${blockNumber} ORDER BY s.block_number LIMIT 1)`;
  return and(
    sql`(${swaps.blockNumber}, ${swaps.logIndex}) < (${blockNumber}::int8, ${logIndex}::int4)`,
    lte(swaps.blockTimestamp, sql`coalesce(${at}, ${Number.MAX_SAFE_INTEGER}::int8)`),
  );
}
