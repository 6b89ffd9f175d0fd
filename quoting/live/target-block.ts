import { blockAfter, type TargetBlock } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { Heads } from '../heads/heads.ts';
import { MAX_AHEAD } from './frame-merger.ts';

/** A chain whose block being built is named. */
export interface TargetedChain {
  readonly blockTimeMs: number;
  readonly heads: Pick<Heads, 'top'>;
}

/** The highest block of a chain that was named. */
const named = perObject((_: TargetedChain): { highest?: TargetBlock } => ({}));

/**
 * The block that is being built, as those who take prices are to know it. It goes back only when the chain does:
 * overrides of a later block may end, and a read at an earlier block may end late.
 *
 * @param block what is shown was read at it
 */
export function targetOf(block: BlockRef, chain: TargetedChain): TargetBlock {
  const { blockNumber, timestamp } = block.pending ?? blockAfter(block, chain.blockTimeMs);
  const memory = named(chain);
  const { highest } = memory;
  const isBelow = highest && blockNumber < highest.blockNumber && highest.blockNumber <= chain.heads.top + MAX_AHEAD;
  memory.highest = isBelow ? highest : { blockNumber, timestamp };
  return memory.highest;
}
