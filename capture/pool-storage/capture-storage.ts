import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { BudgetedRpc } from '../../chain/read-schedule/budgeted-rpc.ts';
import { poolStorages } from '../../db/schema/operator.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { storedLayout } from '../../protocol/layouts/adapters.ts';
import type { CaptureChain } from '../capture-chain.ts';
import { adaptive, type Job, jobsOfClasses } from '../job.ts';
import { isNewer } from '../read-schedule/is-newer.ts';
import type { CaptureClass, KnownPool } from '../read-schedule/pool-values.ts';
import { createPoolReads, type PoolSchedule } from '../read-schedule/read-due-pools.ts';
import { hasStoredPools, readStorage, type StoredPool, storageCalls } from './storage-read.ts';

type Row = Omit<typeof poolStorages.$inferInsert, 'capturedAt'>;

export type StorageCaptureDeps = PoolSchedule & { readonly database: pg.Pool };

/** The reads of pools' storage. A chain without such pools has none. */
export const storageJobs = (chain: CaptureChain): Job[] =>
  hasStoredPools(chain.chain)
    ? jobsOfClasses(chain.chainId, { 'pool-storage': { pace: adaptive(5), run: createStorageCapture(chain) } })
    : [];

/**
 * Makes a function that reads storage and token balances of pools of a class, where events do not report a pool's
 * state. A run reads as many pools as the budget allows and gives their number. It reads each pool at one block and
 * stores it with that block, and with the reason when the read does not count. A run throws errors of the node or the
 * database; what was stored before stays, and becomes stale.
 */
export function createStorageCapture(deps: StorageCaptureDeps): (kind: CaptureClass) => Promise<number> {
  const { database, chainId, budget, rpcs } = deps;
  const takePools = async (pools: readonly KnownPool[]) => {
    const stored = pools.flatMap((pool) => {
      const layout = storedLayout(pool.layout);
      return layout ? [{ ...pool, layout }] : [];
    });
    // The other pools were undone by a reorganisation, or their deployment was disabled.
    await deleteOtherPoolsOf(database, poolStorages, chainId, stored);
    return stored;
  };
  return createPoolReads(deps, takePools, (kind) => ({
    callsOf: storageCalls,
    send: async (calls) => {
      const rpc = rpcs[kind];
      const { block } = await new BudgetedRpc(rpc, budget, kind).head();
      return { ...(await boundedCallsOnce({ rpc, chainId }, { block }, calls)), block };
    },
    store: async (read) => {
      const rows = read.map(({ pool, results, answer }) =>
        toRow(chainId, pool, answer.block, readStorage(pool, results)),
      );
      await upsertRows(database, poolStorages, rows, {
        key: ['chainId', 'pool'],
        computed: { capturedAt: sql`now()` },
        evenIfSame: true,
        keepIf: isNewer(poolStorages),
      });
      return rows.map(({ refusal }) => ({ gas: 0, isFailed: refusal !== null }));
    },
  }));
}

function toRow(
  chainId: number,
  { address }: StoredPool,
  block: BlockRef,
  { head, balance0Raw, balance1Raw, refusal }: ReturnType<typeof readStorage>,
): Row {
  return {
    chainId,
    pool: address,
    blockNumber: Number(block.number),
    blockHash: block.hash,
    blockTimestamp: Number(block.timestamp),
    curBinIdx: head?.cursor.bin ?? null,
    curPosInBin: head?.cursor.position ?? null,
    curBinDistFromProvidedPriceE6: head?.cursor.lowerDistE6 ?? null,
    total0Scaled: head?.totalsScaled[0] ?? null,
    total1Scaled: head?.totalsScaled[1] ?? null,
    notionalFee0Scaled: head?.notionalFeesScaled[0] ?? null,
    notionalFee1Scaled: head?.notionalFeesScaled[1] ?? null,
    balance0Raw,
    balance1Raw,
    refusal,
  };
}
