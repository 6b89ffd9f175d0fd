import { sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { CalibrationPool } from '../../protocol/calibration.ts';
import type { FactoryKey } from './calibration-rows.ts';

/** Newest swaps of the chain among which those of a factory are looked for. */
const NEWEST_SWAPS = 5_000;
/** Pools that are looked at: those that traded most among these swaps, and those made last. */
const MOST_TRADED = 300;
const MOST_NEW = 100;

type Row = {
  readonly address: Address;
  readonly lowest_bin: number;
  readonly highest_bin: number;
  readonly multiplier0: string;
  readonly multiplier1: string;
};

/** A subquery: swaps by pool of a factory. */
const traded = ({ chainId, factory }: FactoryKey) => sql`
  SELECT ${pools.address} AS pool, count(*) AS swaps
  FROM (
    SELECT pool FROM read_model.swap WHERE chain_id = ${chainId}
    ORDER BY block_number DESC, log_index DESC LIMIT ${NEWEST_SWAPS}
  ) newest
  JOIN ${pools} ON ${pools.chainId} = ${chainId} AND ${pools.address} = newest.pool
  WHERE ${pools.factory} = ${factory}
  GROUP BY 1`;

/** Swaps of a factory among the newest of its chain: older ones tell nothing, since nodes forget their states. */
export async function recentSwaps(database: Queryable, key: FactoryKey): Promise<number> {
  const { rows } = await queriesOn(database).execute<{ swaps: string }>(
    sql`SELECT coalesce(sum(swaps), 0)::text AS swaps FROM (${traded(key)}) traded`,
  );
  return Number(rows[0]?.swaps ?? 0);
}

/** The pools of a factory that are likely to tell something, those that traded most first. */
export async function poolsToCalibrate(database: Queryable, key: FactoryKey): Promise<readonly CalibrationPool[]> {
  const { chainId, factory } = key;
  const { rows } = await queriesOn(database).execute<Row>(sql`
    WITH traded AS (${traded(key)} ORDER BY swaps DESC, pool LIMIT ${MOST_TRADED}),
    newest AS (
      SELECT ${pools.address} FROM ${pools} WHERE ${pools.chainId} = ${chainId} AND ${pools.factory} = ${factory}
      ORDER BY ${pools.createdBlockNumber} DESC, ${pools.poolIdx} DESC LIMIT ${MOST_NEW}
    )
    SELECT ${pools.address}, ${pools.lowestBin}, ${pools.highestBin}, ${pools.token0ScaleMultiplier}::text AS multiplier0,
           ${pools.token1ScaleMultiplier}::text AS multiplier1
    FROM (SELECT pool FROM traded UNION SELECT address FROM newest) chosen
    JOIN ${pools} ON ${pools.chainId} = ${chainId} AND ${pools.address} = chosen.pool
    LEFT JOIN traded ON traded.pool = chosen.pool
    ORDER BY traded.swaps DESC NULLS LAST, ${pools.createdBlockNumber} DESC, ${pools.poolIdx} DESC`);
  return rows.map(({ address, lowest_bin: lowestBin, highest_bin: highestBin, multiplier0, multiplier1 }) => ({
    ...{ address, lowestBin, highestBin },
    scale: { multiplier0: BigInt(multiplier0), multiplier1: BigInt(multiplier1) },
  }));
}
