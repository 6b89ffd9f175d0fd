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
 * Makes a function that finds the block of a time on one chain. Each search starts from the block that the previous one
 * found, so a window that slides by seconds costs a handful of reads. When the chain cannot be read, or a search times
 * out, the block is estimated from the chain's block time. A slow search continues in the background and makes the next
 * one short.
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

  const search = async (timestamp: number, newest: TimedBlock): Promise<number> => {
    isSearching = true;
    try {
      const low = settled && settled.timestamp <= timestamp ? settled : { number: 0, timestamp: await read(0) };
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
  const blocks = Math.ceil(((newest.timestamp - timestamp) * 1000) / blockTimeMs);
  return Math.max(newest.number - blocks, -1);
}
