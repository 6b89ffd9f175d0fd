import { isOffByThird, measureBlockTime } from '../../chain/block-time.ts';
import type { ChainRpc } from '../../chain/chain-rpc.ts';

/** The newest quarter of the blocks that are measured shows how fast a chain is now. */
const PART = 4;

/**
 * Measures the usual time between blocks, milliseconds: the mean of the newest blocks. Where the chain stood still
 * before, or is a local one whose past was filled at once, only the last of them count.
 *
 * @returns null for a chain with too few blocks, or without time between them
 * @throws RpcFailure when no node gave the headers
 */
export async function usualBlockTime(rpc: ChainRpc): Promise<number | null> {
  const measured = await measureBlockTime(rpc);
  if (measured === null || measured.meanMs === 0) return null;
  const { blocks, meanMs } = measured;
  const last = Math.floor(blocks / PART);
  const { block } = await rpc.head();
  const earlier = await rpc.blockAt(block.number - BigInt(last));
  const lastMs = Math.round((Number(block.timestamp - earlier.timestamp) * 1_000) / last);
  // Whole seconds of headers may show none between the blocks of a fast chain.
  return lastMs > 0 && lastMs < meanMs && isOffByThird(meanMs, lastMs) ? lastMs : meanMs;
}
