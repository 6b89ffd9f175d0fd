import type { Hex } from 'viem';

/** A part of a block, as a sequencer shows it before the block is sealed. */
export interface Part {
  /** Number and time of the block; time in Unix seconds. */
  readonly number: bigint;
  readonly timeSecs: bigint;
  readonly parentHash: Hex;
  /** Counts the parts of the block from 0. */
  readonly index: number;
  /** The signed transactions that came with this part. */
  readonly transactions: readonly Hex[];
}

/**
 * The form of the messages of `newFlashblocks`: a block as nodes give it, or what the sequencer itself sends.
 * `logs`: the node does not have them, and pushes logs of parts alone; `heads`: it pushes each part as a head.
 */
export type PartForm = 'block' | 'payload' | 'logs' | 'heads';
