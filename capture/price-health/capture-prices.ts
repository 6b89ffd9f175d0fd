import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import { MAX_READ_GAS, type ReadOutcome } from '../../chain/read-schedule/read-scheduler.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import { priceHealth } from '../../db/schema/operator.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import { type ClosedSides, poolPriceCalls } from '../../quoting/calls/pool-price.ts';
import type { PriceBlocks } from '../../quoting/live/live-blocks.ts';
import { type PriceAnswer, PriceReader, type ReadPrice } from '../../quoting/live/price-reader.ts';
import { isNewer } from '../read-schedule/is-newer.ts';
import type { CaptureClass, KnownPool } from '../read-schedule/pool-values.ts';
import {
  createPoolReads,
  gasUsedBy,
  type PoolResults,
  type PoolSchedule,
  runWithinBudget,
} from '../read-schedule/read-due-pools.ts';
import type { OnRead } from '../read-schedule/read-gauges.ts';
import type { PartBlocks } from './part-blocks.ts';

export type PriceCaptureDeps = PoolSchedule & {
  readonly database: pg.Pool;
  /** Sides that guards close, and sides whose tokens do not move. */
  readonly closed: readonly ReadonlyMap<Address, ClosedSides>[];
  /** Absent on a chain without a source of live prices. */
  readonly live?: (PriceBlocks & Partial<Pick<PartBlocks, 'send'>>) | undefined;
  readonly onRead?: OnRead | undefined;
  readonly logUnknown: LogUnknownError;
};

/** Reads the prices of the due pools of a class. @returns number of pools read */
export type CapturePrices = (kind: CaptureClass) => Promise<number>;

/**
 * Makes a function that reads prices and token balances of the pools of a chain by quoting's `PriceReader`, as far as
 * the budget allows. It stores them with the status, block and time. A run throws errors of the node or the database;
 * what was stored before stays, and becomes stale. Guards and tokens are probed on schedules of their own.
 */
export function createPriceCapture(deps: PriceCaptureDeps): CapturePrices {
  const { database, chainId, budget, rpcs, live, onRead } = deps;
  const closedSides = (pool: Address): ClosedSides => {
    const isClosed = (side: keyof ClosedSides) => deps.closed.some((sides) => sides.get(pool)?.[side]);
    return { bids: isClosed('bids'), asks: isClosed('asks') };
  };
  const readerOf = (kind: CaptureClass) => {
    const target = { rpc: rpcs[kind], chainId };
    const reserve = () => budget.reserve(kind);
    return new PriceReader({
      target,
      live,
      reserve,
      run: (block, groups) =>
        runWithinBudget(kind, groups, {
          budget,
          send: async (calls) =>
            live?.send ? live.send(block, calls, reserve) : boundedCallsOnce(target, { block }, calls),
        }),
      closedSides,
    });
  };
  return createPoolReads(
    deps,
    async (pools) => {
      // The other pools were undone by a reorganisation, or their deployment was disabled.
      await deleteOtherPoolsOf(database, priceHealth, chainId, pools);
      return pools;
    },
    (kind) => {
      const reader = readerOf(kind);
      return {
        callsOf,
        send: (calls) => reader.send(calls),
        store: async (results) => storePrices(deps, results, await reader.prices(results)),
      };
    },
    (kind, backlog) => onRead?.(chainId, kind, backlog, budget),
  );
}

/** Gives the calls of a pool. Calls are isolated, so that no pool can affect the read of another. */
const callsOf = (pool: KnownPool) => [
  ...poolPriceCalls(pool),
  balanceCall(pool.token0, pool.address),
  balanceCall(pool.token1, pool.address),
];

/** Stores the prices of pools. @returns the outcome of each; null where what was stored before stays */
async function storePrices(
  deps: Pick<PriceCaptureDeps, 'database' | 'chainId' | 'logUnknown'>,
  read: readonly PoolResults<KnownPool, PriceAnswer>[],
  prices: readonly ReadPrice[],
): Promise<(ReadOutcome | null)[]> {
  const rows = read.map(({ pool, results, answer }, index) => {
    const [price, , balance0, balance1] = results;
    deps.logUnknown(pool.address, price);
    const shown = prices[index]?.price;
    if (!shown) return null;
    const { status, sellX64, buyX64, ...basis } = shown;
    return {
      chainId: deps.chainId,
      pool: pool.address,
      status,
      sellPriceX64: sellX64,
      buyPriceX64: buyX64,
      ...basis,
      blockNumber: Number(answer.blockNumber),
      blockTimestamp: Number(answer.blockTimestamp),
      balance0Raw: readBalance(balance0),
      balance1Raw: readBalance(balance1),
      isFunded: pool.isFunded,
    };
  });
  const known = rows.filter((row) => row !== null);
  // A read that gives the same again is of the same block: where nodes stand still, what is stored becomes stale.
  await upsertRows(deps.database, priceHealth, known, {
    key: ['chainId', 'pool'],
    computed: { capturedAt: sql`now()` },
    keepIf: isNewer(priceHealth),
  });
  return rows.map((row, index) => {
    if (!row) return null;
    const gas = gasUsedBy(prices[index]?.ranLive ?? []);
    // What is usual is left out: calls at the committed head are packed by this.
    return { gas: gas > MAX_READ_GAS ? gas : 0, isFailed: row.sellPriceX64 === null };
  });
}
