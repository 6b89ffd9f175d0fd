import { type AbiEvent, type Address, type Hex, toEventSelector } from 'viem';
import { alternate } from './alternate.ts';
import type { CalibrationChain, CalibrationPool, PoolLog } from './calibration.ts';
import { maxBigint } from './fixed-point.ts';

/** A swap that was its pool's only action in a block. */
export interface SingleSwap {
  readonly pool: CalibrationPool;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly swap: PoolLog;
  /** Its `BinSwapped`, in order. */
  readonly bins: readonly PoolLog[];
}

/** Most blocks that are looked through: few nodes hold the state of older ones. */
const MAX_BLOCKS = 5_000n;
/** Blocks, and pools, in one request for logs. */
const BLOCKS_AT_ONCE = 1_000n;
const POOLS_AT_ONCE = 500;

/**
 * Finds the newest swaps that were their pool's only action in a block. Of each thousand blocks it yields the newest
 * swap of every pool, then the second newest of every pool, and so on.
 *
 * @param events of the pools, in any layout
 * @throws what `chain` throws
 */
export async function* singleSwaps(
  chain: CalibrationChain,
  events: readonly AbiEvent[],
  pools: readonly CalibrationPool[],
): AsyncGenerator<SingleSwap> {
  const [swap, binSwapped] = ['Swap', 'BinSwapped'].map((name) =>
    events
      .filter((event) => event.name === name)
      .map((event) => toEventSelector(event))
      .at(0),
  );
  const { number: newest } = await chain.head();
  for (let to = newest; pools.length > 0 && to > 0n && newest - to < MAX_BLOCKS; to -= BLOCKS_AT_ONCE) {
    const byPool = new Map<Address, SingleSwap[]>();
    for (const [pool, logs] of await poolBlocks(chain, pools, maxBigint(to - BLOCKS_AT_ONCE + 1n, 0n), to)) {
      const swaps = logs.filter(({ topics }) => topics[0] === swap);
      const bins = logs.filter(({ topics }) => topics[0] === binSwapped);
      const [only] = swaps;
      if (!only || swaps.length > 1 || bins.length < logs.length - 1) continue;
      const { blockNumber, blockHash } = only;
      const found = { pool, blockNumber, blockHash, swap: only, bins };
      byPool.set(pool.address, [found, ...(byPool.get(pool.address) ?? [])]);
    }
    yield* alternate([...byPool.values()]);
  }
}

/** The logs of each pool in each block, oldest block first. */
async function poolBlocks(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  fromBlock: bigint,
  toBlock: bigint,
): Promise<readonly (readonly [CalibrationPool, readonly PoolLog[]])[]> {
  const groups = new Map<string, [CalibrationPool, PoolLog[]]>();
  for (let start = 0; start < pools.length; start += POOLS_AT_ONCE) {
    const requested = new Map(pools.slice(start, start + POOLS_AT_ONCE).map((pool) => [pool.address, pool]));
    const logs = await chain.logs([...requested.keys()], fromBlock, toBlock);
    const inOrder = [...logs].sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
    for (const log of inOrder) {
      const [key, pool] = [`${log.blockHash}:${log.address}`, requested.get(log.address)];
      const group = groups.get(key);
      if (group) group[1].push(log);
      else if (pool) groups.set(key, [pool, [log]]);
    }
  }
  return [...groups.values()];
}
