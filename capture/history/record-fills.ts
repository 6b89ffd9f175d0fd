import type pg from 'pg';
import type { Address, Hex } from 'viem';
import type { BlockRef, ChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCalls, boundedCallsWithCode } from '../../chain/contract-calls.ts';
import { type BoundedCall, CALLER } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';

export interface FillDeps {
  readonly database: pg.Pool;
  readonly chainId: number;
  /** Its requests wait for the read budget. */
  readonly rpc: ChainRpc;
  /** Whether the budget has calls that price reads do not need soon. Without, blocks wait and may become too old. */
  readonly hasSpareCalls: () => boolean;
  readonly pools: () => Promise<readonly KnownPool[]>;
}

/** A swap that is compared with a quote. Nothing happened to its pool earlier in its block. */
interface Swap {
  readonly blockNumber: string;
  readonly logIndex: number;
  readonly transactionHash: Hex;
  readonly pool: Address;
  readonly blockTimestamp: string;
  readonly zeroForOne: boolean;
  readonly inRaw: string;
}

/** Nodes that are not archives hold the state of about this many blocks. */
const RECENT_BLOCKS = 100;
/** Most swaps of a pool that are compared in a minute; the others stay unknown. */
const FILLS_PER_MINUTE = 10;
/** Most blocks whose swaps one run reads, and most blocks that it checks for being final. */
const BLOCKS_PER_RUN = 20;

/** Bounds of a quote through the stub, which itself holds gas back, and of a simulated swap over any number of bins. */
const QUOTE = { likelyGas: 200_000, gasLimit: 5_800_000, keptBytes: 96 };
const SWAP = { likelyGas: 600_000, gasLimit: 8_000_000, keptBytes: 68 };

const SWAPS_SQL = `
  WITH head AS (SELECT block_number FROM read_model.indexed_block WHERE chain_id = $1),
  recent AS (
    SELECT s.block_number, s.log_index, s.transaction_hash, s.pool, s.block_timestamp, s.zero_for_one,
           greatest(s.amount0_raw, s.amount1_raw) AS in_raw,
           row_number() OVER (PARTITION BY s.pool, s.block_timestamp / 60 ORDER BY s.block_number, s.log_index) AS place
    FROM live.swap s, head
    WHERE s.chain_id = $1 AND s.block_number > head.block_number - ${RECENT_BLOCKS} AND s.pool = ANY ($2)
      AND s.amount0_raw <> 0 AND s.amount1_raw <> 0 AND ${nothingBefore('swap')} AND ${nothingBefore('liquidity_change')}
      AND ${nothingBefore('fee_collection')}
  ), open AS (
    SELECT r.*, dense_rank() OVER (ORDER BY r.block_number) AS block_place FROM recent r
    WHERE r.place <= ${FILLS_PER_MINUTE} AND NOT EXISTS (
      SELECT FROM history.fill f
      WHERE f.chain_id = $1 AND f.block_number = r.block_number AND f.log_index = r.log_index
        AND f.transaction_hash = r.transaction_hash AND f.zero_for_one = r.zero_for_one AND f.in_raw = r.in_raw)
  )
  SELECT block_number AS "blockNumber", log_index AS "logIndex", transaction_hash AS "transactionHash", pool,
         block_timestamp AS "blockTimestamp", zero_for_one AS "zeroForOne", in_raw AS "inRaw"
  FROM open WHERE block_place <= ${BLOCKS_PER_RUN} ORDER BY block_number, log_index`;

function nothingBefore(table: string): string {
  return `NOT EXISTS (SELECT FROM live.${table} e WHERE e.chain_id = $1 AND e.block_number = s.block_number
    AND e.log_index < s.log_index AND e.pool = s.pool)`;
}

const INSERT_SQL = `
  INSERT INTO history.fill (chain_id, block_number, log_index, transaction_hash, pool, block_timestamp, zero_for_one, in_raw,
    parent_hash, quoted_out_raw)
  SELECT $1, s."blockNumber", s."logIndex", s."transactionHash", s.pool, s."blockTimestamp", s."zeroForOne", s."inRaw", $2,
         s."quotedOutRaw"
  FROM json_to_recordset($3) AS s ("blockNumber" int8, "logIndex" int4, "transactionHash" text, pool text,
    "blockTimestamp" int8, "zeroForOne" boolean, "inRaw" numeric, "quotedOutRaw" numeric)
  ON CONFLICT (chain_id, block_number, log_index, transaction_hash) DO UPDATE
    SET zero_for_one = excluded.zero_for_one, in_raw = excluded.in_raw, parent_hash = excluded.parent_hash,
        quoted_out_raw = excluded.quoted_out_raw, is_final = false`;

/**
 * Records for recent swaps what their funded pools quoted at the end of the block before, and which recorded quotes
 * became final. A swap whose block is not read in time stays unknown.
 *
 * @returns number of swaps recorded
 * @throws RpcFailure or an error of Postgres: earlier blocks are recorded, and the next run reads the rest
 */
export async function recordFills(deps: FillDeps): Promise<number> {
  const { database, chainId } = deps;
  const funded = new Map((await deps.pools()).filter(({ isFunded }) => isFunded).map((pool) => [pool.address, pool]));
  const { rows } = await database.query<Swap>(SWAPS_SQL, [chainId, [...funded.keys()]]);
  const byBlock = Map.groupBy(rows, ({ blockNumber }) => blockNumber);
  let recorded = 0;
  for (const [number, swaps] of byBlock) {
    if (!deps.hasSpareCalls()) break;
    const parent = await deps.rpc.blockAt(BigInt(number) - 1n);
    const quoted = await quotedOutputs(deps, parent, swaps, funded);
    const rowsOfBlock = swaps.map((swap, index) => ({ ...swap, quotedOutRaw: quoted[index]?.toString() ?? null }));
    await database.query(INSERT_SQL, [chainId, parent.hash, JSON.stringify(rowsOfBlock)]);
    recorded += swaps.length;
  }
  await confirmParents(deps);
  return recorded;
}

/** Quotes the output of each swap at the parent block; null where a pool, its provider or the node gives no quote. */
async function quotedOutputs(
  { rpc, chainId }: FillDeps,
  parent: BlockRef,
  swaps: readonly Swap[],
  pools: ReadonlyMap<Address, KnownPool>,
): Promise<(bigint | null)[]> {
  const target = { rpc, chainId };
  const known = swaps.flatMap((swap) => pools.get(swap.pool) ?? []);
  const stubs = known.map(({ address, layout, priceProvider }) => {
    return [address, layoutAdapter(layout).prices.providerStubCode(priceProvider)] as const;
  });
  const quoteCalls = known.map(({ address, layout }): BoundedCall[] => [
    { target: address, data: layoutAdapter(layout).prices.providerQuoteCall, ...QUOTE },
  ]);
  const { isApplied, answers: quotes } = await boundedCallsWithCode(target, parent, quoteCalls, new Map(stubs));
  const swapCalls = swaps.map(({ pool, zeroForOne, inRaw }, index): BoundedCall[] => {
    const [quote] = quotes[index]?.results ?? [];
    const layout = pools.get(pool)?.layout;
    if (!isApplied || !quote || layout === undefined) return [];
    const calls = layoutAdapter(layout).fills.calls(quote, CALLER, zeroForOne, BigInt(inRaw)) ?? [];
    return calls.map((data) => ({ target: pool, data, ...SWAP }));
  });
  if (swapCalls.every((calls) => calls.length === 0)) return swaps.map(() => null);
  const answers = await boundedCalls(target, parent, swapCalls);
  return swaps.map(({ pool, zeroForOne, inRaw }, index) => {
    const layout = pools.get(pool)?.layout;
    const results = answers[index]?.results;
    if (!results || layout === undefined) return null;
    return layoutAdapter(layout).fills.output(results, zeroForOne, BigInt(inRaw));
  });
}

/** Once a swap's block is final, marks its quote as final, or removes a quote that was read at a block later undone. */
async function confirmParents({ database, chainId, rpc, hasSpareCalls }: FillDeps): Promise<void> {
  const { rows } = await database.query<{ blockNumber: string }>(
    `SELECT DISTINCT f.block_number AS "blockNumber" FROM history.fill f, live._ponder_checkpoint c
     WHERE f.chain_id = $1 AND NOT f.is_final AND c.chain_id = $1
       AND f.block_timestamp < substr(c.finalized_checkpoint, 1, 10)::int8
     ORDER BY 1 LIMIT ${BLOCKS_PER_RUN}`,
    [chainId],
  );
  for (const { blockNumber } of rows) {
    if (!hasSpareCalls()) break;
    const { hash } = await rpc.blockAt(BigInt(blockNumber) - 1n);
    const key = [chainId, blockNumber, hash];
    await database.query(
      'DELETE FROM history.fill WHERE chain_id = $1 AND block_number = $2 AND parent_hash <> $3',
      key,
    );
    await database.query(
      'UPDATE history.fill SET is_final = true WHERE chain_id = $1 AND block_number = $2 AND parent_hash = $3',
      key,
    );
  }
}
