import type { CalibrationBlock, CalibrationChain, CalibrationPool } from '../../../calibration.ts';
import type { PackedStorage } from '../storage.ts';
import { type LoneSwap, loneSwaps } from './lone-swaps.ts';
import type { ObservedSwap } from './observed-swap.ts';
import { readStorage } from './read-storage.ts';

/** Blocks in one request for logs. */
const BLOCKS_AT_ONCE = 1_000n;
/** Blocks that are looked through at most: few nodes hold the state of older ones. */
const MOST_BLOCKS = 5_000n;

/** A swap with a name by which it is found again. */
export interface NamedSwap {
  readonly name: string;
  readonly pool: CalibrationPool;
  readonly observed: ObservedSwap;
}

/**
 * The newest lone swaps of pools, with the storage before and after them, by turns of the pools. It looks back until there
 * are enough of them, or until the nodes no longer hold the state.
 */
export async function observeSwaps(
  chain: CalibrationChain,
  storage: PackedStorage,
  pools: readonly CalibrationPool[],
  most: number,
): Promise<readonly NamedSwap[]> {
  const { number: newest } = await chain.head();
  const found: NamedSwap[] = [];
  for (let to = newest; to > 0n && newest - to < MOST_BLOCKS; to -= BLOCKS_AT_ONCE) {
    const from = to < BLOCKS_AT_ONCE ? 0n : to - BLOCKS_AT_ONCE + 1n;
    for (const lone of await loneSwaps(chain, pools, from, to)) {
      if (found.length >= most) return found;
      const observed = await observe(chain, storage, lone);
      if (observed === 'unreadable' && found.length > 0) return found;
      if (typeof observed === 'object') found.push({ ...nameOf(lone), observed });
    }
  }
  return found;
}

const nameOf = ({ pool, blockNumber }: LoneSwap) => ({ name: `${pool.address}@${blockNumber}`, pool });

async function observe(
  chain: CalibrationChain,
  storage: PackedStorage,
  { pool, blockNumber, blockHash, swap, bins }: LoneSwap,
): Promise<ObservedSwap | 'unreadable' | 'reorganised'> {
  const [before, after] = await Promise.all([chain.blockAt(blockNumber - 1n), chain.blockAt(blockNumber)]);
  if (after.hash !== blockHash) return 'reorganised';
  const numbers = [...new Set(bins.map(({ bin }) => bin))];
  const read = (block: CalibrationBlock) => readStorage(chain, storage, block, pool, numbers);
  const [stateBefore, stateAfter] = await Promise.all([read(before), read(after)]);
  if (stateBefore === null || stateAfter === null) return 'unreadable';
  return { swap, bins, before: stateBefore, after: stateAfter, scale: pool.scale };
}
