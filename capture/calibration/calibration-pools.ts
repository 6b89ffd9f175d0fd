import { sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { poolListings } from '../../db/schema/operator.ts';
import { poolExtensions, pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { CalibrationPool } from '../../protocol/calibration.ts';
import type { FactoryKey } from './calibration-rows.ts';

/** Newest swaps of a chain among which traded pools are sought: nodes forget the state of older blocks. */
const SEARCHED_SWAPS = 5_000;
/** Most pools that an attempt looks at, those with the most of these swaps: so it needs few calls for logs. */
const TRADED_POOLS = 300;

type Row = {
  readonly address: Address;
  readonly lowest_bin: number;
  readonly highest_bin: number;
  readonly multiplier0: string;
  readonly multiplier1: string;
  readonly price_provider: Address;
};

/** What is read of a pool. */
const COLUMNS = sql`${pools.address}, ${pools.lowestBin}, ${pools.highestBin}, ${pools.priceProvider},
  ${pools.token0ScaleMultiplier}::text AS multiplier0, ${pools.token1ScaleMultiplier}::text AS multiplier1`;

/** Reads the pools of a factory with most of its chain's newest swaps, and their numbers of these, most first. */
export async function tradedPools(
  database: Queryable,
  { chainId, factory }: FactoryKey,
): Promise<readonly (CalibrationPool & { readonly swaps: number })[]> {
  const { rows } = await queriesOn(database).execute<Row & { swaps: number }>(sql`
    SELECT ${COLUMNS}, traded.swaps
    FROM (
      SELECT pool, count(*)::integer AS swaps
      FROM (
        SELECT pool FROM read_model.swap WHERE chain_id = ${chainId}
        ORDER BY block_number DESC, log_index DESC LIMIT ${SEARCHED_SWAPS}
      ) newest
      GROUP BY 1
    ) traded
    JOIN ${pools} ON ${pools.chainId} = ${chainId} AND ${pools.address} = traded.pool
    WHERE ${pools.factory} = ${factory}
    ORDER BY traded.swaps DESC, ${pools.address}
    LIMIT ${TRADED_POOLS}`);
  return rows.map((row) => ({ ...calibrationPool(row), swaps: row.swaps }));
}

/** Most pools by which the stop-loss mark is decided: a few are enough. */
const MARK_POOLS = 20;

/**
 * Reads pools of a factory that run its stop loss, highest TVL first: anyone can create one with a provider of theirs.
 */
export async function poolsWithStopLoss(
  database: Queryable,
  { chainId, factory }: FactoryKey,
  stopLoss: Address,
): Promise<readonly CalibrationPool[]> {
  const { rows } = await queriesOn(database).execute<Row>(sql`
    SELECT ${COLUMNS}
    FROM ${poolExtensions}
    JOIN ${pools} ON ${pools.chainId} = ${poolExtensions.chainId} AND ${pools.address} = ${poolExtensions.pool}
    LEFT JOIN ${poolListings} ON ${poolListings.chainId} = ${chainId} AND ${poolListings.pool} = ${pools.address}
    WHERE ${poolExtensions.chainId} = ${chainId} AND ${poolExtensions.address} = ${stopLoss}
      AND ${pools.factory} = ${factory}
    ORDER BY ${poolListings.tvlFiat} DESC NULLS LAST, ${pools.createdBlockNumber}, ${pools.address}
    LIMIT ${MARK_POOLS}`);
  return rows.map(calibrationPool);
}

const calibrationPool = (row: Row): CalibrationPool => ({
  address: row.address,
  lowestBin: row.lowest_bin,
  highestBin: row.highest_bin,
  priceProvider: row.price_provider,
  scale: { multiplier0: BigInt(row.multiplier0), multiplier1: BigInt(row.multiplier1) },
});
