import { sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { binComparisons } from '../../db/schema/operator.ts';
import { indexedBlocks, poolStates, pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { TokenScale } from '../../protocol/scaling.ts';
import type { SummedBin } from './summed-bins.ts';

/** Of the pools compared in a round, so many at most that differed before come beside them. */
const UNLIKE_PART = 1 / 4;

/** A pool as its events say it is after a block. */
export interface SummedPool {
  readonly address: Address;
  readonly factory: Address;
  readonly scale: TokenScale;
  /** The block that its chain is indexed to. */
  readonly blockNumber: number;
  readonly swaps: bigint;
  /** From the lowest upwards. */
  readonly bins: readonly SummedBin[];
}

type Row = {
  readonly address: Address;
  readonly factory: Address;
  readonly multiplier0: string;
  readonly multiplier1: string;
  readonly block_number: string;
  readonly swaps: string;
  readonly bins: readonly (readonly [bin: number, ...amounts: string[]])[];
};

/**
 * The pools of some factories whose comparison is the oldest, and some of those that differed in their last one. Each comes
 * with the sums of its events up to one block: one statement sees one state of the index.
 *
 * @param count how many, the latter not counted
 */
export async function poolsToCompare(
  database: Queryable,
  chainId: number,
  factories: readonly Address[],
  count: number,
): Promise<readonly SummedPool[]> {
  const { rows } = await queriesOn(database).execute<Row>(sql`
    WITH known AS (
      SELECT ${pools.address}, ${pools.factory}, ${pools.token0ScaleMultiplier}::text AS multiplier0,
             ${pools.token1ScaleMultiplier}::text AS multiplier1, c.compared_at, c.difference
      FROM ${pools}
      LEFT JOIN ${binComparisons} c ON c.chain_id = ${pools.chainId} AND c.pool = ${pools.address}
      WHERE ${pools.chainId} = ${chainId} AND ${pools.factory} = ANY (${sql.param(factories)}::text[])
    ), due AS (
      (SELECT * FROM known WHERE difference IS NOT NULL ORDER BY compared_at, address LIMIT ${Math.ceil(count * UNLIKE_PART)})
      UNION
      (SELECT * FROM known ORDER BY compared_at NULLS FIRST, address LIMIT ${count})
    )
    SELECT due.address, due.factory, due.multiplier0, due.multiplier1, i.block_number::text, bins.list AS bins,
           coalesce(activity.swap_count, 0)::text AS swaps
    FROM due
    JOIN ${poolStates} s ON s.chain_id = ${chainId} AND s.pool = due.address
    JOIN ${indexedBlocks} i ON i.chain_id = s.chain_id AND i.block_number >= s.block_number
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_array(b.bin_idx, b.liquidity0_scaled::text, b.liquidity1_scaled::text,
                                       b.swap_delta0::text, b.swap_delta1::text) ORDER BY b.bin_idx) AS list
      FROM read_model.packed_bins() b WHERE b.chain_id = s.chain_id AND b.pool = s.pool
    ) bins
    LEFT JOIN LATERAL (
      SELECT a.swap_count FROM read_model.pool_activity a WHERE a.chain_id = s.chain_id AND a.pool = s.pool
      ORDER BY a.block_timestamp DESC LIMIT 1
    ) activity ON true
    WHERE bins.list IS NOT NULL`);
  return rows.map(toPool);
}

function toPool({ address, factory, multiplier0, multiplier1, block_number, swaps, bins }: Row): SummedPool {
  return {
    address,
    factory,
    scale: { multiplier0: BigInt(multiplier0), multiplier1: BigInt(multiplier1) },
    blockNumber: Number(block_number),
    swaps: BigInt(swaps),
    bins: bins.map(([bin, ...amounts]) => {
      const [liquidity0 = 0n, liquidity1 = 0n, delta0 = 0n, delta1 = 0n] = amounts.map(BigInt);
      return { bin, liquidityScaled: [liquidity0, liquidity1], swapDeltas: [delta0, delta1] };
    }),
  };
}
