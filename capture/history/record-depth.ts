import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { type DepthWithin, depthWithin } from '../../protocol/depth-within.ts';
import { readDecisions, readPoolsAt } from '../../quoting/pools/catalog-rows.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { PoolMaker } from '../../quoting/pools/pool-maker.ts';
import { createPoolReader } from '../../quoting/reads/create-pool-reader.ts';
import type { PoolReader } from '../../quoting/reads/pool-reader.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { CLOSED_ASK_X64, CLOSED_BID_X64, type HeadContext } from '../../quoting/types.ts';
import type { Clock } from '../../runtime/clock.ts';
import { encodeBigints } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';

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

/** Timeout of one phase of calls, over all nodes. */
const READ_TIMEOUT_MS = 8_000;
/** Pools that are read together. When the budget has no call left for them, all of them fail. */
const POOLS_PER_READ = 50;

const insertDepth = loadStatement('./insert-depth.sql', import.meta.url);

/**
 * Makes a recorder that reads depth as the API's quotes do. A pool gets no sample when it does not trade, or when its
 * depth is not known without a simulation of each bin.
 *
 * A run throws errors of the nodes or of Postgres; what was read before is recorded.
 */
export function createDepthRecorder({ database, chain, rpc, reserve, wallClock, logger }: DepthDeps): RecordDepth {
  const { chainId, multicall3 } = chain;
  const head = async (): Promise<HeadContext> => {
    const { block, endpoint } = await rpc.head();
    return { block, endpoint, reserve };
  };
  const reader = createPoolReader({
    target: { rpc, chainId, multicall3 },
    // A block at which nodes refuse calls is not remembered: the next read is at another one.
    heads: { head, caughtUp: async () => false, confirm: () => undefined, reject: () => true },
    simulatedPoolsPerRead: 0,
    readTimeoutMs: READ_TIMEOUT_MS,
    observer: {},
    logger,
    wallClock,
  });
  return async (addresses) => {
    const pools = await servedPools(database, chain, addresses);
    for (let from = 0; from < pools.length && reserve(); from += POOLS_PER_READ) {
      const at = await head();
      const read = pools.slice(from, from + POOLS_PER_READ).map((pool) => readSample(reader, at, pool));
      const outcomes = await Promise.allSettled(read);
      const samples = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? (outcome.value ?? []) : []));
      const rows = encodeBigints(samples);
      await insertDepth(database, [chainId, rows]);
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      // An exhausted budget is not an error: the rest gets no depth this time.
      if (failures.some(isExhausted)) return;
      if (failures.length > 0) throw failures[0];
    }
  };
}

const isExhausted = (error: unknown): boolean => error instanceof RpcFailure && error.code === 'exhausted';

/** Reads the pools at these addresses that are served, in the same order. */
async function servedPools(
  database: pg.Pool,
  chain: ChainConfig,
  addresses: readonly Address[],
): Promise<readonly ServedPool[]> {
  if (addresses.length === 0) return [];
  const decisions = await readDecisions(database);
  const maker = new PoolMaker(chain);
  const rows = new Map((await readPoolsAt(database, chain.chainId, addresses)).map((row) => [row.address, row]));
  return addresses.flatMap((address) => {
    const row = rows.get(address);
    return (row && maker.make(row, decisions)) ?? [];
  });
}

/** Reads a sample of one pool. @returns null when the pool does not trade, or does not show its depth */
async function readSample(reader: PoolReader, at: HeadContext, pool: ServedPool): Promise<DepthSample | null> {
  try {
    const prices = await reader.prices(at, { pool });
    const found = await reader.curve(at, prices);
    if (!found || (found.trading.bids === null && found.trading.asks === null)) return null;
    const { block, bidX64, askX64 } = prices;
    // A side that is closed by a token has no price from which distances could be measured.
    if (bidX64 === CLOSED_BID_X64 || askX64 === CLOSED_ASK_X64) return null;
    const depth = depthWithin(found.curve, found.trading, { sellX64: bidX64, buyX64: askX64 });
    return { pool: pool.address, blockNumber: block.number, blockTimestamp: block.timestamp, bidX64, askX64, ...depth };
  } catch (error) {
    if (error instanceof SnapshotError) return null;
    throw error;
  }
}
