import type { ChainConfig } from '../config/chains-schema.ts';
import type { Logger } from '../runtime/logger.ts';
import { type ChainRpc, openChainRpc } from './chain-rpc.ts';

/** Blocks whose mean counts: on the fastest chains still many seconds, since headers have whole ones. */
const BLOCKS = 256n;
/** Fewer say nothing: a new chain. */
const MIN_BLOCKS = 32n;
/** The newest quarter counts alone where it is faster by a third: before it, the chain stood still, or was slower. */
const QUARTERS = 4n;

/** Mean time between the newest blocks of a chain. */
export type BlockTime = { readonly blocks: number; readonly meanMs: number };

/**
 * Measures the time between blocks by their headers.
 *
 * @returns null for a chain with too few blocks
 * @throws RpcFailure when no node gave the headers
 */
export async function measureBlockTime(rpc: ChainRpc): Promise<BlockTime | null> {
  const { block } = await rpc.head();
  const blocks = block.number < BLOCKS ? block.number : BLOCKS;
  if (blocks < MIN_BLOCKS) return null;
  const meanOf = async (count: bigint): Promise<BlockTime> => {
    const earlier = await rpc.blockAt(block.number - count);
    const meanMs = Math.round((Number(block.timestamp - earlier.timestamp) * 1_000) / Number(count));
    return { blocks: Number(count), meanMs };
  };
  const all = await meanOf(blocks);
  if (blocks < QUARTERS * MIN_BLOCKS) return all;
  const newest = await meanOf(blocks / QUARTERS);
  return newest.meanMs > 0 && newest.meanMs < all.meanMs && isOffByThird(newest.meanMs, all.meanMs) ? newest : all;
}

/** Whether the time that the chains file says is off by more than a third of it. */
export const isOffByThird = (meanMs: number, blockTimeMs: number): boolean =>
  Math.abs(meanMs - blockTimeMs) * 3 > blockTimeMs;

const TIMEOUT_MS = 2_000;
/**
 * How much slower or faster than the chains file a mean may be. Beyond that it is no block time: a chain that stands
 * still looks slower, a local one that was filled at once looks faster.
 */
const MAX_FACTOR = { slower: 4, faster: 10 };

/**
 * The chains with the block times that their headers show, where the chains file is off by more than a third. That is
 * logged. A chain whose nodes give no headers is as the file says.
 */
export function measureBlockTimes<C extends ChainConfig>(chains: readonly C[], logger: Logger): Promise<C[]> {
  return Promise.all(chains.map((chain) => withMeasuredTime(chain, logger)));
}

async function withMeasuredTime<C extends ChainConfig>(chain: C, logger: Logger): Promise<C> {
  const { chainId, blockTimeMs } = chain;
  const measured = await measureBlockTime(openChainRpc(chain, TIMEOUT_MS)).catch(() => null);
  if (measured === null || !isOffByThird(measured.meanMs, blockTimeMs)) return chain;
  const { blocks, meanMs } = measured;
  const isBlockTime = meanMs * MAX_FACTOR.faster >= blockTimeMs && meanMs <= MAX_FACTOR.slower * blockTimeMs;
  const pacedByMs = isBlockTime ? meanMs : blockTimeMs;
  logger.warn({ chainId, blockTimeMs, blocks, meanMs, pacedByMs }, 'blockTimeMs of the chains file is off by a third');
  return { ...chain, blockTimeMs: pacedByMs };
}
