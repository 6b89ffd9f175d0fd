import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { isExhaustedBudget } from '../../chain/rpc-failure.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { type DepthWithin, depthWithin } from '../../protocol/depth-within.ts';
import { type SideGas, TRANSACTION_GAS } from '../../protocol/swap-gas.ts';
import type { MeasuredPool } from '../../quoting/guards/side-swaps.ts';
import { SwapGas, type SwapGasDeps } from '../../quoting/guards/swap-gas.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { readServedPools } from '../../quoting/pools/read-served-pools.ts';
import type { HeadContext } from '../../quoting/types.ts';
import type { Clock } from '../../runtime/clock.ts';
import { encodeBigints } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { createQuoteReader, hasMid, type ReadQuote } from '../quote-reader.ts';

export interface DepthDeps {
  readonly database: pg.Pool;
  readonly chain: ChainConfig;
  readonly rpc: ChainRpc;
  /** Takes a call from the read budget that price reads do not need soon. @returns false when there is none */
  readonly reserve: () => boolean;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
  readonly logger: Logger;
}

/** Records current quotes of these pools, with depth, in this order until the budget is exhausted. */
export type RecordDepth = (pools: readonly Address[]) => Promise<void>;

/** What one pool quotes at a block. */
interface DepthSample extends DepthWithin, BidAsk {
  readonly pool: Address;
  readonly blockNumber: bigint;
  readonly blockTimestamp: bigint;
}

/** Pools that are read together. When the budget has no call left for them, all of them fail. */
const POOLS_PER_READ = 50;

const insertDepth = loadStatement('./insert-depth.sql', import.meta.url);
const setSwapGas = loadStatement('./set-swap-gas.sql', import.meta.url);

/**
 * Makes a recorder that reads depth as the API's quotes do. A pool gets no sample when it does not trade, or when its
 * depth is not known without a simulation of each bin.
 *
 * A run throws errors of the nodes or of Postgres; what was read before is recorded.
 */
export function createDepthRecorder({ database, chain, rpc, reserve, wallClock, logger }: DepthDeps): RecordDepth {
  const { chainId } = chain;
  const head = async (): Promise<HeadContext> => {
    const { block, endpoint } = await rpc.head();
    return { block, endpoint, reserve };
  };
  const readQuote = createQuoteReader({ chain, rpc, nextHead: head, wallClock, logger });
  const send: SwapGasDeps['send'] = (at, calls) => boundedCallsOnce({ rpc, chainId }, at, calls);
  const swapGas = new SwapGas({ send, reserve, logger, now: wallClock });
  return async (addresses) => {
    const pools = await readServedPools(database, chain, addresses);
    for (let from = 0; from < pools.length && reserve(); from += POOLS_PER_READ) {
      const at = await head();
      const read = pools.slice(from, from + POOLS_PER_READ).map((pool) => readSample(readQuote, at, pool));
      const outcomes = await Promise.allSettled(read);
      const samples = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? (outcome.value ?? []) : []));
      const rows = encodeBigints(samples.map(({ sample }) => sample));
      await insertDepth(database, [chainId, rows]);
      await setSwapGas(database, [chainId, JSON.stringify(await measureGas(swapGas, samples))]);
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      // An exhausted budget is not an error: the rest gets no depth this time.
      if (failures.some(isExhaustedBudget)) return;
      if (failures.length > 0) throw failures[0];
    }
  };
}

/** Gas of transactions with a usual swap, of the pools that were measured here and for which a direction is known. */
async function measureGas(swapGas: SwapGas, samples: readonly ReadSample[]) {
  const known = () => samples.map(({ measured, block }) => swapGas.of(measured, block));
  const before = known();
  await swapGas.settled(new Set(samples.map(({ measured }) => measured.pool.address)));
  return known().flatMap((gas, index) => {
    const of = (side: SideGas | null) => side && TRANSACTION_GAS + side.part;
    const { bids, asks } = gas;
    // What was kept is as old as before.
    if (gas === before[index]) return [];
    return bids || asks ? [{ pool: samples[index]?.sample.pool, token0In: of(bids), token1In: of(asks) }] : [];
  });
}

/** A sample, and what it was read of. */
interface ReadSample {
  readonly sample: DepthSample;
  readonly measured: MeasuredPool;
  readonly block: BlockRef;
}

/** Reads a sample of one pool. @returns null when the pool does not trade, or does not show its depth */
async function readSample(readQuote: ReadQuote, at: HeadContext, pool: ServedPool): Promise<ReadSample | null> {
  const quote = await readQuote(at, pool);
  if (!quote || !hasMid(quote)) return null;
  const { curve, trading, block, bidX64, askX64 } = quote;
  const depth = depthWithin(curve, trading, { sellX64: bidX64, buyX64: askX64 });
  const read = { blockNumber: block.number, blockTimestamp: block.timestamp };
  const levels = { bids: trading.bids ?? [], asks: trading.asks ?? [] };
  return {
    sample: { pool: pool.address, ...read, bidX64, askX64, ...depth },
    measured: { pool, depth: levels, curve },
    block,
  };
}
