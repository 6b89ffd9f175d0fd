import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import type { ReadBudget, ReadClass } from '../../chain/read-budget/read-budget.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { priceHealth } from '../../db/schema/operator.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { BoundedAnswer } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { type OnAttention, reportAttention } from '../attention/attention-report.ts';
import { type PoolOutcome, PoolSchedule } from '../attention/pool-schedule.ts';
import type { KnownPool } from '../attention/pools-with-worth.ts';
import { type PoolReading, readRound } from '../attention/read-round.ts';
import { poolPriceCalls, readPoolPrice } from './pool-price.ts';

export type PriceCaptureDeps = {
  readonly database: pg.Pool;
  readonly chain: ChainConfig;
  readonly budget: ReadBudget;
  /** The nodes for each class: those that strangers' pools wear out are not taken from the others. */
  readonly rpcs: Readonly<Record<ReadClass, ChainRpc>>;
  /** The pools of the chain. */
  readonly pools: () => Promise<readonly KnownPool[]>;
  /** Pools that clients asked for lately. */
  readonly wanted: () => Promise<ReadonlySet<Address>>;
  /** Pools of which guards close both sides. */
  readonly closed: ReadonlySet<Address>;
  readonly now: Clock;
  readonly onAttention?: OnAttention | undefined;
  readonly logUnknown: LogUnknownError;
};

/** Reads the prices of pools of these classes whose turn it is. @returns number of pools read */
export type CapturePrices = (kinds: readonly ReadClass[]) => Promise<number>;

/**
 * Reads prices of the pools of a chain and their balances of both tokens, as far as the budget goes, and stores them with
 * the status, block and time. A round throws errors of the node or the database; what was stored before stays, and grows
 * old.
 */
export function createPriceCapture(deps: PriceCaptureDeps): CapturePrices {
  const { database, chain, budget, rpcs, now, onAttention } = deps;
  const { chainId } = chain;
  const { callsAtOnce } = chain.readBudget;
  const schedule = new PoolSchedule<KnownPool>(chain.readBudget, now);
  let known: readonly KnownPool[] | undefined;

  const takePools = async () => {
    const pools = await deps.pools();
    if (pools === known) return;
    schedule.setPools(pools);
    // Undone by a reorganisation, or of a deployment that was disabled.
    await deleteOtherPoolsOf(database, priceHealth, chainId, pools);
    known = pools;
  };

  return async (kinds) => {
    const begun = now();
    await takePools();
    schedule.setWanted(await deps.wanted());
    try {
      return await readRound(kinds, begun, {
        schedule,
        budget,
        callsAtOnce,
        callsOf,
        send: (kind, calls, gas) => boundedCallsOnce({ rpc: rpcs[kind], chainId }, 'latest', calls, undefined, gas),
        store: (readings) => storeReadings(deps, readings),
      });
    } finally {
      for (const kind of kinds) {
        const backlog = schedule.backlog(kind, begun);
        await reportAttention(database, budget, { chainId, kind, backlog }, onAttention);
      }
    }
  };
}

/** No pool can spoil the reading of another: calls are isolated. */
const callsOf = ({ address, token0, token1, layout }: KnownPool) => [
  ...poolPriceCalls(address, layoutAdapter(layout)),
  balanceCall(token0, address),
  balanceCall(token1, address),
];

async function storeReadings(
  { database, chain: { chainId }, closed, logUnknown }: PriceCaptureDeps,
  readings: readonly PoolReading<KnownPool, BoundedAnswer>[],
): Promise<PoolOutcome[]> {
  const rows = readings.map(({ pool: { address, layout }, results, answer }) => {
    const [price, , balance0, balance1] = results;
    logUnknown(address, price);
    const { status, sellX64, buyX64 } = readPoolPrice(results, layoutAdapter(layout), closed.has(address));
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
    };
  });
  const options = { key: ['chainId', 'pool'], computed: { capturedAt: sql`now()` }, evenIfSame: true } as const;
  await upsertRows(database, priceHealth, rows, options);
  return rows.map(({ sellPriceX64 }) => ({ gas: 0, isFailed: sellPriceX64 === null }));
}
