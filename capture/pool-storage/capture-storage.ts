import { eq, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { BlockRef, ChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCalls } from '../../chain/contract-calls.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { binComparisons, curveRanks, poolStorages } from '../../db/schema/operator.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { storedLayout } from '../../protocol/layouts/stored-layouts.ts';
import type { StoredLayout } from '../../protocol/stored-layout.ts';
import { readStorage, type StoredPool, storageCalls } from './storage-reading.ts';

/** Pools read and stored at a time: one `eth_call`, as a rule. */
const POOLS_AT_ONCE = 150;

type Row = Omit<typeof poolStorages.$inferInsert, 'capturedAt'>;

/**
 * Reads the storage and the balances of every pool of a chain whose events do not tell its state, each at one block, and
 * stores them with that block and whether they count.
 *
 * @returns number of pools read
 * @throws errors of the node or the database; what was stored before stays, and grows old
 */
export async function capturePoolStorage(database: pg.Pool, rpc: ChainRpc, chain: ChainConfig): Promise<number> {
  const stored = await storedPools(database, chain);
  let read = 0;
  for (let start = 0; start < stored.length; start += POOLS_AT_ONCE) {
    const rows = await readBatch(rpc, chain, stored.slice(start, start + POOLS_AT_ONCE));
    const options = { key: ['chainId', 'pool'], computed: { capturedAt: sql`now()` }, evenIfSame: true } as const;
    await upsertRows(database, poolStorages, rows, options);
    read += rows.length;
  }
  // Undone by a reorganisation, or of a deployment that was disabled.
  for (const table of [poolStorages, binComparisons, curveRanks]) {
    await deleteOtherPoolsOf(database, table, chain.chainId, stored);
  }
  return read;
}

/** Whether a chain has a factory whose pools are read by {@link capturePoolStorage}. */
export const hasStoredPools = (chain: ChainConfig): boolean => storedLayouts(chain).size > 0;

/** Layouts by factory. */
function storedLayouts({ deployments }: ChainConfig): ReadonlyMap<string, StoredLayout> {
  return new Map(
    deployments.flatMap(({ enabled, poolFactory, layout }) => {
      const found = enabled ? storedLayout(layout) : undefined;
      return found ? [[poolFactory, found] as const] : [];
    }),
  );
}

async function storedPools(database: Queryable, chain: ChainConfig): Promise<StoredPool[]> {
  const layouts = storedLayouts(chain);
  const rows = await queriesOn(database)
    .select({
      address: pools.address,
      token0: pools.token0,
      token1: pools.token1,
      factory: pools.factory,
      multiplier0: pools.token0ScaleMultiplier,
      multiplier1: pools.token1ScaleMultiplier,
    })
    .from(pools)
    .where(eq(pools.chainId, chain.chainId))
    .orderBy(pools.address);
  return rows.flatMap(({ factory, multiplier0, multiplier1, ...pool }) => {
    const layout = layouts.get(factory);
    return layout === undefined ? [] : [{ ...pool, scale: { multiplier0, multiplier1 }, layout }];
  });
}

/** One that the node gave no reading of is left out, and what is stored of it grows old. */
async function readBatch(rpc: ChainRpc, { chainId }: ChainConfig, batch: readonly StoredPool[]): Promise<Row[]> {
  const { block } = await rpc.head();
  const answers = await boundedCalls({ rpc, chainId }, block, batch.map(storageCalls));
  return batch.flatMap((pool, index) => {
    const answer = answers[index];
    return answer ? [toRow(chainId, pool, block, readStorage(pool, answer.results))] : [];
  });
}

function toRow(
  chainId: number,
  { address }: StoredPool,
  block: BlockRef,
  { head, balance0Raw, balance1Raw, refusal }: ReturnType<typeof readStorage>,
): Row {
  return {
    ...{ chainId, pool: address },
    ...{ blockNumber: Number(block.number), blockHash: block.hash, blockTimestamp: Number(block.timestamp) },
    curBinIdx: head?.cursor.bin ?? null,
    curPosInBin: head?.cursor.position ?? null,
    curBinDistFromProvidedPriceE6: head?.cursor.lowerDistE6 ?? null,
    total0Scaled: head?.totalsScaled[0] ?? null,
    total1Scaled: head?.totalsScaled[1] ?? null,
    notionalFee0Scaled: head?.notionalFeesScaled[0] ?? null,
    notionalFee1Scaled: head?.notionalFeesScaled[1] ?? null,
    ...{ balance0Raw, balance1Raw, refusal },
  };
}
