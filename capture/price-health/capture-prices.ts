import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import type { ReadOutcome } from '../../chain/read-schedule/read-scheduler.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import { priceHealth } from '../../db/schema/operator.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { BoundedAnswer } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { CaptureClass, KnownPool } from '../read-schedule/pool-values.ts';
import { createPoolReads, type PoolResults, type PoolSchedule } from '../read-schedule/read-due-pools.ts';
import type { OnRead } from '../read-schedule/read-gauges.ts';
import { type ClosedSides, poolPriceCalls, readPoolPrice } from './pool-price.ts';

export type PriceCaptureDeps = PoolSchedule & {
  readonly database: pg.Pool;
  /** Sides that guards close, and sides whose tokens do not move. */
  readonly closed: readonly ReadonlyMap<Address, ClosedSides>[];
  readonly onRead?: OnRead | undefined;
  readonly logUnknown: LogUnknownError;
};

/** Reads the prices of the due pools of a class. @returns number of pools read */
export type CapturePrices = (kind: CaptureClass) => Promise<number>;

/**
 * Makes a function that reads prices and token balances of the pools of a chain, as far as the budget allows. It stores
 * them with the status, block and time. A run throws errors of the node or the database; what was stored before stays,
 * and becomes stale.
 */
export function createPriceCapture(deps: PriceCaptureDeps): CapturePrices {
  const { database, chainId, budget, rpcs, onRead } = deps;
  return createPoolReads(
    deps,
    async (pools) => {
      // The other pools were undone by a reorganisation, or their deployment was disabled.
      await deleteOtherPoolsOf(database, priceHealth, chainId, pools);
      return pools;
    },
    (kind) => ({
      callsOf,
      send: (calls) => boundedCallsOnce({ rpc: rpcs[kind], chainId }, 'latest', calls),
      store: (results) => storePrices(deps, results),
    }),
    (kind, backlog) => onRead?.(chainId, kind, backlog, budget),
  );
}

/** Gives the calls of a pool. Calls are isolated, so that no pool can affect the read of another. */
const callsOf = ({ address, token0, token1, layout }: KnownPool) => [
  ...poolPriceCalls(address, layoutAdapter(layout)),
  balanceCall(token0, address),
  balanceCall(token1, address),
];

async function storePrices(
  { database, chainId, closed, logUnknown }: PriceCaptureDeps,
  read: readonly PoolResults<KnownPool, BoundedAnswer>[],
): Promise<ReadOutcome[]> {
  const rows = read.map(({ pool: { address, layout, isFunded }, results, answer }) => {
    const [price, , balance0, balance1] = results;
    logUnknown(address, price);
    const isClosed = (side: keyof ClosedSides) => closed.some((sides) => sides.get(address)?.[side]);
    const sides = { bids: isClosed('bids'), asks: isClosed('asks') };
    const { status, sellX64, buyX64 } = readPoolPrice(results, layoutAdapter(layout), sides);
    return {
      chainId,
      pool: address,
      status,
      sellPriceX64: sellX64,
      buyPriceX64: buyX64,
      blockNumber: Number(answer.blockNumber),
      blockTimestamp: Number(answer.blockTimestamp),
      balance0Raw: readBalance(balance0),
      balance1Raw: readBalance(balance1),
      isFunded,
    };
  });
  const options = { key: ['chainId', 'pool'], computed: { capturedAt: sql`now()` }, evenIfSame: true } as const;
  await upsertRows(database, priceHealth, rows, options);
  return rows.map(({ sellPriceX64 }) => ({ gas: 0, isFailed: sellPriceX64 === null }));
}
