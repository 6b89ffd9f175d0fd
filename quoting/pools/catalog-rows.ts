import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import { readStopLossMarks, readUnreadableFactories } from '../../db/factory-calibration.ts';
import { readFoundContracts } from '../../db/found-contracts.ts';
import type { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import { loadStatement } from '../../db/load-statement.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { delistedPools } from '../../db/schema/operator.ts';
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

/** What three statements select of a pool. */
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

/** Most rows of one query: the driver parses all of them without yielding. */
const SLICE = 1_000;

/** A place in an order of rows. */
type Place = readonly unknown[];

/** Reads, in slices, the rows that follow a place in an order. */
async function* rowsBehind<R>(
  readSlice: (place: Place) => Promise<readonly R[]>,
  first: Place,
  placeOf: (row: R) => Place,
): AsyncGenerator<readonly R[]> {
  let place: Place | null = first;
  while (place) {
    const rows = await readSlice(place);
    yield rows;
    const last = rows.at(-1);
    place = last !== undefined && rows.length === SLICE ? placeOf(last) : null;
  }
}

/**
 * Makes what reads a slice of pools.
 *
 * 1. Queries hide the place from the planner, which would expect few rows after a recent one and plan each slice again.
 * 2. The number of rows is a literal, so that the planner knows how few rows are read.
 */
const poolSlice =
  (name: string, condition: string) =>
  async (database: pg.Pool, chainId: number, place: Place): Promise<readonly PoolRow[]> => {
    const text = `${POOLS} AND ${condition} LIMIT ${SLICE}`;
    return (await database.query<PoolRow>({ name, text, values: [chainId, ...place] })).rows;
  };

const allPools = poolSlice('catalog-pools', 'p.address > (SELECT $2::text) ORDER BY p.address');
const poolsSince = poolSlice(
  'catalog-pools-since',
  `(p.created_block_number, p.address) > ((SELECT $2::int8), (SELECT $3::text))
   ORDER BY p.created_block_number, p.address`,
);

/** All pools of a chain, by address. */
export function readAllPools(database: pg.Pool, chainId: number): AsyncGenerator<readonly PoolRow[]> {
  return rowsBehind(
    (place) => allPools(database, chainId, place),
    [''],
    ({ address }) => [address],
  );
}

/** Pools that were created at a block or later. */
export function readPoolsSince(database: pg.Pool, chainId: number, block: number): AsyncGenerator<readonly PoolRow[]> {
  return rowsBehind(
    (place) => poolsSince(database, chainId, place),
    [block, ''],
    (row) => [row.block, row.address],
  );
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

const reportSlice = loadStatement<ReportRow>('./catalog-reports.sql', import.meta.url, 'catalog-reports');

/** Reports that were captured at a time or later, oldest first. @param sinceUs microseconds since 1970 */
export function readReports(database: pg.Pool, chainId: number, sinceUs: number): AsyncGenerator<readonly ReportRow[]> {
  return rowsBehind(
    (place) => reportSlice(database, [chainId, ...place]),
    [sinceUs, ''],
    (row) => [row.capturedUs, row.address],
  );
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
  /** Age of the newest token price; null without one. */
  readonly fiatPrice: number | null;
  readonly isFiatLost: boolean;
  /**
   * What the comparison of the index with the chain found: the newest block compared,
   * how many pools and factories the last comparison did not read, the last difference in Unix seconds.
   */
  readonly auditedToBlock: number | null;
  readonly unreadPools: number;
  readonly lastDifferenceAt: number | null;
  /** Pools and factories that differ, with the last block at which both agreed; null without any. */
  readonly differing: readonly DifferingRow[] | null;
  readonly faultyNodes: readonly FaultyNode[] | null;
}

/**
 * A node, by its place in the chains file, that left logs out, or invented some, in the last day. Counts are of all
 * time, the time is Unix seconds.
 */
export interface FaultyNode {
  readonly node: string;
  readonly leftOut: number;
  readonly invented: number;
  readonly lastAt: number;
}

interface DifferingRow {
  readonly address: Address;
  readonly factory: Address;
  readonly agreedBlock: number | null;
}

const chainRow = loadStatement<ChainRow>('./catalog-chain.sql', import.meta.url, 'catalog-chain');

export async function readChain(database: pg.Pool, chainId: number): Promise<ChainRow> {
  const [row] = await chainRow(database, [chainId]);
  if (!row) throw new Error('a SELECT of one row gave none');
  return row;
}

/** A factory of a chain, as a key. */
export const factoryKey = (chainId: number, factory: Address): string => `${chainId}:${factory}`;

/** Reads what calibration decided about factories, by their keys. `epoch` changes when any pool may have changed. */
export async function readDecisions(database: pg.Pool) {
  const { delistedAt } = delistedPools;
  const [delisted] = await queriesOn(database)
    .select({ index: sql`concat_ws(':', count(*), max(${delistedAt}), to_regclass('live.pool')::oid)` })
    .from(delistedPools);
  const unreadable = (await readUnreadableFactories(database)).map((row) => factoryKey(row.chainId, row.factory));
  const marks = (await readStopLossMarks(database)).map(
    (row) => [factoryKey(row.chainId, row.factory), row.mark] as const,
  );
  const found = await readFoundContracts(database);
  return {
    /** Changes when another index is served, a pool was delisted or listed again, or calibration decided. */
    epoch: [delisted?.index, ...unreadable, ...marks.flat(), ...found.map(({ address }) => address)].join(),
    /** Factories whose pools are not served, because they cannot be read. */
    unreadable: new Set(unreadable),
    stopLossMarks: new Map(marks),
    /** Contracts that the indexer found besides those of the chains file. */
    found,
  };
}

export type Calibration = Omit<Awaited<ReturnType<typeof readDecisions>>, 'epoch'>;
