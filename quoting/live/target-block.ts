import { blockAfter, type PendingState, type TargetBlock } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { Heads } from '../heads/heads.ts';
import { MAX_AHEAD } from './frame-merger.ts';

type TargetHeads = Pick<Heads, 'top' | 'isPassed'> & Partial<Pick<Heads, 'onHead'>>;

/** A chain whose block being built is named. */
export interface TargetedChain {
  readonly blockTimeMs: number;
  readonly heads: TargetHeads;
}

const NONE = -1n;

/** The highest block of a chain that was named as the one being built, here or by another process. */
export class NamedTarget {
  readonly #heads: TargetHeads;
  #raised: (() => void) | undefined;
  #highest: TargetBlock | undefined;
  /** What other processes named last. */
  readonly #heard = new Map<string, bigint>();

  constructor(heads: TargetHeads) {
    this.#heads = heads;
  }

  /**
   * Calls the listener, in place of any before, when this process names a block that others may not know of: before
   * anything is shown.
   */
  onRaised(listener: () => void): void {
    this.#raised = listener;
  }

  /** The number of the block that was named last. */
  get number(): bigint | undefined {
    return this.#highest?.blockNumber;
  }

  /**
   * Takes note of what another process names now, undefined: nothing. It may have seen one more block. What cannot be
   * changes nothing.
   */
  hear(from: string, number: bigint | undefined): void {
    if (number === undefined) this.#heard.delete(from);
    else if (number <= this.#heads.top + 1n + MAX_AHEAD || this.#heads.top < 0n) this.#heard.set(from, number);
  }

  /** Forgets what was named above a chain that went back: it may come to that height again before the next name. */
  headChanged(): void {
    const most = this.#heads.top + (this.#heads.isPassed ? 1n : 0n) + MAX_AHEAD;
    if (this.#highest && this.#highest.blockNumber > most) this.#highest = undefined;
  }

  /** Names the block being built, where what is shown was read in `own`. */
  name(own: TargetBlock, blockTimeMs: number): TargetBlock {
    const { isPassed } = this.#heads;
    const top = this.#heads.top + (isPassed ? 1n : 0n);
    const most = top + MAX_AHEAD;
    const highest = this.#highest;
    const kept = highest && highest.blockNumber <= most ? highest : own;
    let heard = isPassed ? top + 1n : NONE;
    for (const [from, number] of this.#heard) {
      if (number > most + 1n || number < top - MAX_AHEAD) this.#heard.delete(from);
      else if (number <= most) heard = maxBigint(heard, number);
    }
    const { blockNumber, timestamp } = laterOf(laterOf(own, kept), blockBy(own, heard, blockTimeMs));
    this.#highest = { blockNumber, timestamp };
    if (blockNumber > maxBigint(top + 1n, heard) && blockNumber > (highest?.blockNumber ?? NONE)) this.#raised?.();
    return this.#highest;
  }
}

const laterOf = (one: TargetBlock, other: TargetBlock): TargetBlock =>
  other.blockNumber > one.blockNumber ? other : one;

const blockBy = ({ blockNumber, timestamp }: TargetBlock, number: bigint, blockTimeMs: number): TargetBlock => ({
  blockNumber: number,
  timestamp: timestamp + BigInt(Math.round((Number(number - blockNumber) * blockTimeMs) / 1_000)),
});

/** What was named of a chain, by its committed heads. */
export const namedTarget = perObject((heads: TargetHeads) => {
  const target = new NamedTarget(heads);
  heads.onHead?.(() => target.headChanged());
  return target;
});

/**
 * The block that is being built, as those who take prices are to know it. It goes back only when the chain does:
 * overrides of a later block may end, a read at an earlier block may end late, and the nodes of another process may be
 * a block ahead.
 *
 * @param block what is shown was read at it
 */
export const targetOf = (block: BlockRef, { heads, blockTimeMs }: TargetedChain): TargetBlock =>
  namedTarget(heads).name(block.pending ?? blockAfter(block, blockTimeMs), blockTimeMs);

/**
 * Whether what is shown at a block holds in an earlier one than the block that is named, as when nodes are behind those
 * of another process: in the later one providers revert.
 */
export const isOfEarlier = (
  { pending }: Pick<BlockRef, 'pending'>,
  { blockNumber }: Pick<TargetBlock, 'blockNumber'>,
): boolean => pending !== undefined && pending.blockNumber < blockNumber;

/** The state overrides to pass on under the number of a block; undefined without any. */
export const passedOn = (
  block: Pick<BlockRef, 'pending'>,
  target: Pick<TargetBlock, 'blockNumber'>,
): PendingState['republished'] => (isOfEarlier(block, target) ? undefined : block.pending?.republished);
