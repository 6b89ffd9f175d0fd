import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import type { SnapshotError } from '../snapshot-error.ts';
import type { QuoteKind, Snapshot } from '../types.ts';

/** What became of requested pools at one block. */
export interface WarmResult {
  readonly block: BlockRef;
  /** The block and those below it. */
  readonly branch: ChainTail;
  readonly kind: QuoteKind;
  /**
   * Snapshots of this block. A pool is `timed_out` if it is read for keys only, or the budget had no calls for it; it is
   * left out while its last read is young enough to be kept.
   */
  readonly outcomes: ReadonlyMap<Address, Snapshot | SnapshotError>;
  /** When the chain's head was seen and when the reads were done, by `performance.now()`. */
  readonly seenAt: number;
  readonly readyAt: number;
}

/** Takes the result of a run; null when nothing is requested any more, so that no head is seen. Must not throw. */
export type WarmListener = (result: WarmResult | null) => void;
