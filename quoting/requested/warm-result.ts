import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import type { SnapshotError } from '../snapshot-error.ts';
import type { QuoteKind, Snapshot } from '../types.ts';
import type { WarmRead } from './warm-schedule.ts';

/** What became of requested pools at one block. */
export interface WarmResult {
  readonly block: BlockRef;
  /** The block and those below it. */
  readonly branch: ChainTail;
  readonly kind: QuoteKind;
  /** The pools that are requested for this kind. */
  readonly requested: ReadonlySet<Address>;
  /**
   * Snapshots of this block. A pool is `timed_out` if it is read for keys only, or the budget had no calls for it; it
   * is left out while its last read is young enough to be kept.
   */
  readonly outcomes: ReadonlyMap<Address, Snapshot | SnapshotError>;
  /** When the chain's head was seen and when the reads were done, by `performance.now()`. */
  readonly seenAt: number;
  readonly readyAt: number;
}

/** Takes the result of a run; null when nothing is requested any more, so that no head is seen. Must not throw. */
export type WarmListener = (result: WarmResult | null) => void;

/** A head, and when it was seen. */
export interface SeenHead {
  readonly head: ReportedHead;
  readonly branch: ChainTail;
  readonly seenAt: number;
}

/**
 * @param reads all that are requested
 * @param outcomeOf what became of a read of this kind; undefined: nothing new
 */
export function resultOf(
  { head: { block }, branch, seenAt, kind, readyAt }: SeenHead & Pick<WarmResult, 'kind' | 'readyAt'>,
  reads: readonly WarmRead[],
  outcomeOf: (read: WarmRead) => Snapshot | SnapshotError | undefined,
): WarmResult {
  const outcomes = new Map<Address, Snapshot | SnapshotError>();
  const ofKind = reads.filter((read) => read.kind === kind);
  for (const read of ofKind) {
    const outcome = outcomeOf(read);
    if (outcome) outcomes.set(read.address, outcome);
  }
  const requested = new Set(ofKind.map(({ address }) => address));
  return { block, branch, kind, requested, outcomes, seenAt, readyAt };
}
