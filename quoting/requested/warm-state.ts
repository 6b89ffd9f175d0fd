import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import type { SnapshotError } from '../snapshot-error.ts';
import type { QuoteKind, SnapshotMap } from '../types.ts';
import { NO_PROGRESS, type WarmProgress } from './warm-progress.ts';
import type { SeenHead, WarmResult } from './warm-result.ts';
import type { WarmRead } from './warm-schedule.ts';

/** How many pools are requested, without those that are read for keys only, and how many of these were not read. */
export interface Coverage {
  readonly requested: number;
  readonly unread: number;
}

/** A run, by how far it is. `failure`: why there is no head to read at. */
export type WarmRun =
  | { readonly stage: 'locating' }
  | { readonly stage: 'listing'; readonly at: SeenHead; readonly failure: SnapshotError | null }
  | {
      readonly stage: 'reading';
      readonly at: SeenHead;
      readonly reads: readonly WarmRead[];
      /** Those that were not made at the state yet. */
      readonly pending: readonly WarmRead[];
      readonly isShared: boolean;
    };

/** All times are of one clock, milliseconds. */
export interface WarmState {
  readonly seen: SeenHead | null;
  readonly run: WarmRun | null;
  /** Whether another run is to follow. */
  readonly isDue: boolean;
  /** While pools are requested, how many ticks came since; null while heads are not watched. */
  readonly ticks: number | null;
  readonly progress: WarmProgress;
  /** Whether the last run left reads that were not made at its state. */
  readonly hasUndone: boolean;
  /** Of the last run that is over. */
  readonly coverage: Coverage;
  readonly isClosed: boolean;
}

/** What happened. Those from `begun` on follow the step of a run that asks for them. */
export type WarmEvent =
  | { readonly kind: 'head'; readonly head: ReportedHead; readonly branch: ChainTail }
  /** A pool became requested. */
  | { readonly kind: 'requested' }
  /** Comes every `TICK_MS` while heads are watched. `isOutdated`: whether there is no head to quote at. */
  | { readonly kind: 'tick'; readonly isOutdated: boolean }
  | { readonly kind: 'closed' }
  /** `isRequested`: whether clients of this process request any pool. */
  | { readonly kind: 'begun'; readonly isRequested: boolean }
  /** The head to read at, or why there is none. */
  | { readonly kind: 'located'; readonly newest: ReportedHead | SnapshotError }
  /** `isShared`: whether the reads are those of all processes. */
  | { readonly kind: 'listed'; readonly reads: readonly WarmRead[]; readonly isShared: boolean }
  /** All pending reads of one kind are over. */
  | { readonly kind: 'outcomes'; readonly of: QuoteKind; readonly outcomes: SnapshotMap }
  | { readonly kind: 'read' }
  /** `ahead`: the reads that are not for keys only. */
  | { readonly kind: 'ended'; readonly ahead: readonly WarmRead[] }
  /** A step failed, other than by failures of reads. */
  | { readonly kind: 'failed' };

/** The next step of a run, and the event that must follow it. */
export type WarmStep =
  /** Wait for the end of this turn of the event loop: `begun`. */
  | { readonly kind: 'begin' }
  /** Find the head: `located`. */
  | { readonly kind: 'locate' }
  /** List what is requested; if `mayShare`, of all processes, if this one reads the block for all: `listed`. */
  | { readonly kind: 'list'; readonly block: BlockHeader; readonly mayShare: boolean }
  /** Make the pending reads: `outcomes` of each kind as it comes, prices first, then `read`. */
  | {
      readonly kind: 'read';
      readonly head: ReportedHead;
      readonly reads: readonly WarmRead[];
      readonly pending: readonly WarmRead[];
    }
  /** End the reads of the block, for all processes if `isShared`: `ended`. */
  | {
      readonly kind: 'end';
      readonly block: BlockHeader;
      readonly reads: readonly WarmRead[];
      readonly isShared: boolean;
    };

/** What there is to do, in this order. */
export interface WarmEffects {
  /** Whether heads are watched from now on, and ticks come; null: as before. */
  readonly watch: boolean | null;
  /** What to report to listeners. */
  readonly results: readonly (WarmResult | null)[];
  readonly step: WarmStep | null;
}

/** The state while nothing is requested. */
export const ASLEEP: WarmState = {
  seen: null,
  run: null,
  isDue: false,
  ticks: null,
  progress: NO_PROGRESS,
  hasUndone: false,
  coverage: { requested: 0, unread: 0 },
  isClosed: false,
};
