import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { findLastBlockUntil, type ReadTimestamp, type TimedBlock } from './block-search.ts';

/** Finds the number of the last block at or before a time (Unix seconds) that is not later than the block `newest`. */
export type FindBlockAt = (timestamp: number, newest: TimedBlock) => Promise<number>;

/** A found block this much older than the newest one may start the next search: no reorganisation will replace it. */
const SETTLED_SECS = 3_600;
/** Longest wait for a search: a chain whose node hangs must not hold back the listing of the others. */
const TIMEOUT_MS = 2_000;

/**
 * Makes a function that finds the block of a time on one chain. A search starts from the newest block, or from the one
 * that an earlier search found, whichever is nearer: a window that slides by seconds costs a handful of reads, and none
 * of blocks that nodes no longer have. When the chain cannot be read, or a search times out, the block is estimated
 * from the chain's block time. A slow search continues in the background and makes the next one short.
 */
export function createBlockFinder(
  rpc: ChainRpc,
  chain: ChainConfig,
  logger: Pick<Logger, 'warn'>,
  timeoutMs = TIMEOUT_MS,
): FindBlockAt {
  let settled: TimedBlock | null = null;
  let isSearching = false;
  let isEstimating = false;

  const read: ReadTimestamp = (number) => rpc.timestampOf(number);

  /** A block at or before a time, if the chain has one; else its first. */
  const lowOf = async (timestamp: number, newest: TimedBlock): Promise<TimedBlock> => {
    const sinceSettled = settled ? timestamp - settled.timestamp : Number.NEGATIVE_INFINITY;
    if (settled && sinceSettled >= 0 && sinceSettled <= newest.timestamp - timestamp) return settled;
    for (let blocks = 2 * blocksUntil(timestamp, newest, chain.blockTimeMs); ; blocks *= 2) {
      const number = Math.max(newest.number - blocks, 0);
      const block = { number, timestamp: await read(number) };
      if (number === 0 || block.timestamp <= timestamp) return block;
    }
  };

  const search = async (timestamp: number, newest: TimedBlock): Promise<number> => {
    isSearching = true;
    try {
      if (newest.timestamp <= timestamp) return newest.number;
      const low = await lowOf(timestamp, newest);
      if (low.timestamp > timestamp) return low.number - 1;
      const found = await findLastBlockUntil(timestamp, low, newest, read);
      if (newest.timestamp - found.timestamp > SETTLED_SECS) settled = found;
      return found.number;
    } finally {
      isSearching = false;
    }
  };

  const searchInTime = async (timestamp: number, newest: TimedBlock): Promise<number> => {
    if (isSearching) throw new Error('an earlier search still waits for the chain');
    return withTimeout(search(timestamp, newest), timeoutMs);
  };

  return async (timestamp, newest) => {
    try {
      const found = await searchInTime(timestamp, newest);
      isEstimating = false;
      return found;
    } catch (error) {
      const fields = { err: error, chainId: chain.chainId };
      if (!isEstimating) logger.warn(fields, 'blocks of times are estimated until the chain can be read');
      isEstimating = true;
      return estimate(timestamp, newest, chain.blockTimeMs);
    }
  };
}

function estimate(timestamp: number, newest: TimedBlock, blockTimeMs: number): number {
  return Math.max(newest.number - blocksUntil(timestamp, newest, blockTimeMs), -1);
}

/** About how many blocks came since a time. */
const blocksUntil = (timestamp: number, newest: TimedBlock, blockTimeMs: number): number =>
  Math.ceil(((newest.timestamp - timestamp) * 1000) / blockTimeMs);
