import type { PublicClient } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { loggableError } from '../loggable-error.ts';
import { findLastBlockUntil, type ReadTimestamp, type TimedBlock } from './block-search.ts';

/** Answers the number of the last block at or before a time; `newest` is a block of the chain after which nobody asks. */
export type FindBlockAt = (timestamp: number, newest: TimedBlock) => Promise<number>;

/** An answer this old is deep enough to start the next search from: no reorganisation will move it. */
const SETTLED_SECS = 3_600;

/**
 * Tells time in blocks of one chain. Each search starts from the previous one's answer, so that a window which slides by
 * seconds costs a handful of reads. While the chain cannot be read, the answer is estimated from its block time.
 */
export function createBlockClock(client: PublicClient, chain: ChainConfig, logger: Logger): FindBlockAt {
  let settled: TimedBlock | null = null;
  const read: ReadTimestamp = async (number) => {
    const block = await client.getBlock({ blockNumber: BigInt(number) });
    return Number(block.timestamp);
  };

  const search = async (timestamp: number, newest: TimedBlock): Promise<number> => {
    const low = settled && settled.timestamp <= timestamp ? settled : { number: 0, timestamp: await read(0) };
    if (low.timestamp > timestamp) return low.number - 1;
    const found = await findLastBlockUntil(timestamp, low, newest, read);
    if (newest.timestamp - found.timestamp > SETTLED_SECS) settled = found;
    return found.number;
  };

  return async (timestamp, newest) => {
    try {
      return await search(timestamp, newest);
    } catch (error) {
      logger.warn(
        { err: loggableError(error), chainId: chain.chainId },
        'block of a time is estimated: the chain cannot be read',
      );
      return estimate(timestamp, newest, chain.blockTimeMs);
    }
  };
}

function estimate(timestamp: number, newest: TimedBlock, blockTimeMs: number): number {
  const blocks = Math.ceil(((newest.timestamp - timestamp) * 1000) / blockTimeMs);
  return Math.max(newest.number - blocks, -1);
}
