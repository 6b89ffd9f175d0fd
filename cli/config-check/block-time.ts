import type { ChainRpc } from '../../chain/chain-rpc.ts';

/** Blocks whose mean counts: on the fastest chains still many seconds, since headers have whole ones. */
const BLOCKS = 256n;
/** Fewer say nothing: a new chain. */
const MIN_BLOCKS = 32n;

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
  const earlier = await rpc.blockAt(block.number - blocks);
  const meanMs = Math.round((Number(block.timestamp - earlier.timestamp) * 1_000) / Number(blocks));
  return { blocks: Number(blocks), meanMs };
}

/** Whether the time that the chains file says is off by more than a third of it. */
export const isOffByThird = (meanMs: number, blockTimeMs: number): boolean =>
  Math.abs(meanMs - blockTimeMs) * 3 > blockTimeMs;
