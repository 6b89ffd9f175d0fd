import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { Snapshot, SnapshotError } from '../snapshots/types.ts';
import type { QuoteKind } from './wanted-pools.ts';

/** What became of wanted pools at one block. */
export interface BlockRound {
  readonly block: BlockRef;
  /** Lowest height whose block is known to be replaced since the round before; null when none is. */
  readonly replacedFrom: bigint | null;
  readonly kind: QuoteKind;
  /** Each snapshot is of this block. A pool that the read budget did not pay for is `timed_out`, as any that came too late. */
  readonly outcomes: ReadonlyMap<Address, Snapshot | SnapshotError>;
  /** When the chain's head was seen and when the reads were done, by `performance.now()`. */
  readonly seenAt: number;
  readonly readyAt: number;
}

export type RoundListener = (round: BlockRound) => void;
