import type pg from 'pg';
import type { Address } from 'viem';
import { readStopLossMarks, readUnreadableFactories } from '../../db/factory-calibration.ts';
import type { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import type { PoolExtension } from './pool-directory.ts';

/** A pool of the index, created by any factory. */
export interface PoolRow {
  readonly address: Address;
  /** The block that created the pool. */
  readonly block: number;
  readonly factory: Address;
  readonly pair: string;
  readonly token0: Address;
  readonly token1: Address;
  readonly symbol0: string | null;
  readonly symbol1: string | null;
  readonly decimals0: number | null;
  readonly decimals1: number | null;
  readonly lowestBin: number;
  readonly highestBin: number;
  /** Whole numbers, as text. */
  readonly multiplier0: string;
  readonly multiplier1: string;
  readonly priceProvider: Address;
  readonly timelockSecs: string;
  readonly extensions: readonly Pick<PoolExtension, 'address' | 'phases'>[] | null;
  readonly isDelisted: boolean;
}

/** The last read of a pool by capture; floating-point numbers. */
export interface ReportRow {
  readonly address: Address;
  /** Microseconds since 1970. */
  readonly capturedUs: number;
  readonly isHealthy: boolean;
  /** Raw units; 0 when a token did not answer. */
  readonly balance0: number;
  readonly balance1: number;
  /** Q64.64; 0 when closed. */
  readonly sellX64: number;
  readonly buyX64: number;
  readonly tier: keyof typeof TIER_RANKS | null;
  readonly isFunded: boolean;
}

const POOLS = `
  SELECT p.address, p.created_block_number::float8 AS block, p.factory, p.pair, p.token0, p.token1,
    p.token0_symbol AS symbol0, p.token1_symbol AS symbol1, p.token0_decimals AS decimals0, p.token1_decimals AS decimals1,
    p.lowest_bin AS "lowestBin", p.highest_bin AS "highestBin", p.token0_scale_multiplier AS multiplier0,
    p.token1_scale_multiplier AS multiplier1, p.price_provider AS "priceProvider",
    p.price_provider_timelock_secs AS "timelockSecs", (
      SELECT json_agg(json_build_object('address', e.address, 'phases', e.phases) ORDER BY e.position)
      FROM read_model.pool_extension e WHERE e.chain_id = p.chain_id AND e.pool = p.address) AS extensions,
    EXISTS (
      SELECT FROM operator.delisted_pool d WHERE d.chain_id = p.chain_id AND d.pool = p.address) AS "isDelisted"
  FROM read_model.pool p
  WHERE p.chain_id = $1`;

const REPORTS = `
  SELECT h.pool AS address, (extract(epoch FROM h.captured_at) * 1e6)::float8 AS "capturedUs", h.status = 'healthy' AS "isHealthy",
    coalesce(h.balance0_raw, 0)::float8 AS balance0, coalesce(h.balance1_raw, 0)::float8 AS balance1,
    coalesce(h.sell_price_x64, 0)::float8 AS "sellX64", coalesce(h.buy_price_x64, 0)::float8 AS "buyX64", c.tier, h.is_funded AS "isFunded"
  FROM operator.price_health h LEFT JOIN operator.pool_classification c USING (chain_id, pool)
  WHERE h.chain_id = $1`;

/** Most rows of one query: the driver parses all of them without yielding. */
const SLICE = 1_000;

/**
 * Reads, in slices, the rows of a chain that follow a place in an order.
 *
 * 1. Queries hide the place from the planner, which would expect few rows after a recent one and plan each slice again.
 * 2. The number of rows is a literal, so that the planner knows how few rows are read.
 */
async function* rowsBehind<R extends pg.QueryResultRow>(
  database: pg.Pool,
  query: { readonly name: string; readonly text: string },
  chainId: number,
  first: readonly unknown[],
  placeOf: (row: R) => readonly unknown[],
): AsyncGenerator<readonly R[]> {
  let place: readonly unknown[] | null = first;
  while (place) {
    const values: unknown[] = [chainId, ...place];
    const { rows }: { rows: R[] } = await database.query<R>({ ...query, text: `${query.text} LIMIT ${SLICE}`, values });
    yield rows;
    const last: R | undefined = rows.at(-1);
    place = last && rows.length === SLICE ? placeOf(last) : null;
  }
}

/** All pools of a chain, by address. */
export function readAllPools(database: pg.Pool, chainId: number): AsyncGenerator<readonly PoolRow[]> {
  const text = `${POOLS} AND p.address > (SELECT $2::text) ORDER BY p.address`;
  return rowsBehind(database, { name: 'catalog-pools', text }, chainId, [''], ({ address }: PoolRow) => [address]);
}

/** Pools that were created at a block or later. */
export function readPoolsSince(database: pg.Pool, chainId: number, block: number): AsyncGenerator<readonly PoolRow[]> {
  const text = `${POOLS} AND (p.created_block_number, p.address) > ((SELECT $2::int8), (SELECT $3::text))
    ORDER BY p.created_block_number, p.address`;
  const placeOf = (row: PoolRow) => [row.block, row.address];
  return rowsBehind(database, { name: 'catalog-pools-since', text }, chainId, [block, ''], placeOf);
}

/** The pools of a chain at these addresses. */
export async function readPoolsAt(
  database: pg.Pool,
  chainId: number,
  addresses: readonly Address[],
): Promise<readonly PoolRow[]> {
  const text = `${POOLS} AND p.address = ANY ($2::text[])`;
  return (await database.query<PoolRow>({ name: 'catalog-pools-at', text, values: [chainId, addresses] })).rows;
}

/** Reports that were captured at a time or later, oldest first. @param sinceUs microseconds since 1970 */
export function readReports(database: pg.Pool, chainId: number, sinceUs: number): AsyncGenerator<readonly ReportRow[]> {
  const text = `${REPORTS}
    AND (h.captured_at, h.pool) > ((SELECT 'epoch'::timestamptz + $2::float8 * interval '1 us'), (SELECT $3::text))
    ORDER BY h.captured_at, h.pool`;
  const placeOf = (row: ReportRow) => [row.capturedUs, row.address];
  return rowsBehind(database, { name: 'catalog-reports', text }, chainId, [sinceUs, ''], placeOf);
}

/** What is known of a chain besides its pools; ages in seconds. */
export interface ChainRow {
  /** Newest indexed block; null before the first. */
  readonly head: number | null;
  /** Ages of the newest and the oldest price among the chain's pools; null without prices. */
  readonly newest: number | null;
  readonly oldest: number | null;
  /** Age of the listing; null before it was first computed. */
  readonly listing: number | null;
}

export async function readChain(database: pg.Pool, chainId: number): Promise<ChainRow> {
  const statement = `
    SELECT (SELECT block_number FROM read_model.indexed_block WHERE chain_id = $1)::float8 AS head,
      extract(epoch FROM now() - (SELECT max(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS newest,
      extract(epoch FROM now() - (SELECT min(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS oldest,
      (SELECT extract(epoch FROM now()) - generated_at_ts FROM operator.listing_window WHERE chain_id = $1)::float8 AS listing`;
  const { rows } = await database.query<ChainRow>({ name: 'catalog-chain', text: statement, values: [chainId] });
  const [row] = rows;
  if (!row) throw new Error('a SELECT without FROM gave no row');
  return row;
}

/** A factory of a chain, as a key. */
export const factoryKey = (chainId: number, factory: Address): string => `${chainId}:${factory}`;

/** Reads what calibration decided about factories, by their keys. `epoch` changes when any pool may have changed. */
export async function readDecisions(database: pg.Pool) {
  const { rows } = await database.query<{ readonly index: string }>(`
    SELECT concat_ws(':', count(*), max(delisted_at), to_regclass('live.pool')::oid) AS index
    FROM operator.delisted_pool`);
  const unreadable = (await readUnreadableFactories(database)).map((row) => factoryKey(row.chainId, row.factory));
  const marks = (await readStopLossMarks(database)).map(
    (row) => [factoryKey(row.chainId, row.factory), row.mark] as const,
  );
  return {
    /** Changes when another index is served, a pool was delisted or listed again, or calibration decided. */
    epoch: [rows[0]?.index, ...unreadable, ...marks.flat()].join(),
    /** Factories whose pools are not served, because they cannot be read. */
    unreadable: new Set(unreadable),
    stopLossMarks: new Map(marks),
  };
}

export type Calibration = Omit<Awaited<ReturnType<typeof readDecisions>>, 'epoch'>;
