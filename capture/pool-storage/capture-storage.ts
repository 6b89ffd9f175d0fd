import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import type { BlockRef, ChainRpc } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import { MeteredRpc } from '../../chain/read-budget/metered-rpc.ts';
import type { ReadBudget, ReadClass } from '../../chain/read-budget/read-budget.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { poolStorages } from '../../db/schema/operator.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { storedLayout } from '../../protocol/layouts/adapters.ts';
import { PoolSchedule, type PoolWithWorth } from '../attention/pool-schedule.ts';
import type { KnownPool } from '../attention/pools-with-worth.ts';
import { readRound } from '../attention/read-round.ts';
import { readStorage, type StoredPool, storageCalls } from './storage-reading.ts';

type Row = Omit<typeof poolStorages.$inferInsert, 'capturedAt'>;

export type StorageCaptureDeps = {
  readonly database: pg.Pool;
  readonly chain: ChainConfig;
  readonly budget: ReadBudget;
  readonly rpcs: Readonly<Record<ReadClass, ChainRpc>>;
  /** The pools of the chain. */
  readonly pools: () => Promise<readonly KnownPool[]>;
  /** Pools that clients asked for lately. */
  readonly wanted: () => Promise<ReadonlySet<Address>>;
  readonly now: Clock;
};

/** A pool whose storage is read, with its worth. */
type RankedPool = StoredPool & PoolWithWorth;

/**
 * Reads the storage and the balances of the pools of a chain whose events do not tell their state, as far as the budget
 * goes, each at one block, and stores them with that block and whether they count. A round gives the number of pools read
 * and throws errors of the node or the database; what was stored before stays, and grows old.
 */
export function createStorageCapture(deps: StorageCaptureDeps): (kinds: readonly ReadClass[]) => Promise<number> {
  const { database, chain, budget, rpcs, now } = deps;
  const { chainId } = chain;
  const { callsAtOnce } = chain.readBudget;
  const schedule = new PoolSchedule<RankedPool>(chain.readBudget, now);
  let known: readonly KnownPool[] | undefined;

  const takePools = async () => {
    const pools = await deps.pools();
    if (pools === known) return;
    const stored = pools.flatMap((pool) => {
      const layout = storedLayout(pool.layout);
      return layout ? [{ ...pool, layout }] : [];
    });
    schedule.setPools(stored);
    // Undone by a reorganisation, or of a deployment that was disabled.
    await deleteOtherPoolsOf(database, poolStorages, chainId, stored);
    known = pools;
  };

  return async (kinds) => {
    const begun = now();
    await takePools();
    schedule.setWanted(await deps.wanted());
    return readRound(kinds, begun, {
      schedule,
      budget,
      callsAtOnce,
      callsOf: storageCalls,
      send: async (kind, calls, gas) => {
        const { block } = await new MeteredRpc(rpcs[kind], budget, kind).head();
        return { ...(await boundedCallsOnce({ rpc: rpcs[kind], chainId }, block, calls, undefined, gas)), block };
      },
      store: async (readings) => {
        const rows = readings.map(({ pool, results, answer }) =>
          toRow(chainId, pool, answer.block, readStorage(pool, results)),
        );
        const options = { key: ['chainId', 'pool'], computed: { capturedAt: sql`now()` }, evenIfSame: true } as const;
        await upsertRows(database, poolStorages, rows, options);
        return rows.map(({ refusal }) => ({ gas: 0, isFailed: refusal !== null }));
      },
    });
  };
}

/** Whether a chain has a factory whose pools are read by {@link createStorageCapture}. */
export const hasStoredPools = ({ deployments }: ChainConfig): boolean =>
  deployments.some(({ enabled, layout }) => enabled && storedLayout(layout) !== undefined);

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
