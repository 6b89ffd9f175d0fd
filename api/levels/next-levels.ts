import type { BlockRef } from '../../chain/read-context.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { frameContents } from './frame-contents.ts';
import { type FrameLook, type MissingPools, NONE_MISSING, nextAwaited } from './next-awaited.ts';

/** One frame each second at least, also if a timer is late. */
export const MAX_MS = 900;

/** What the frames of a query are, whatever happens. */
export interface LevelsLimits {
  /** Whether all see them who choose nothing and have no key. */
  readonly isPublic: boolean;
  /** For how long frames wait for pools that are not read, milliseconds. */
  readonly maxUnreadMs: number;
}

/** `versions` differ when the block or a pool changed. */
export type LevelsEvent<S extends Snapshot> =
  /** Pools were read. */
  | { readonly kind: 'read'; readonly versions: string }
  /** A frame is due. */
  | {
      readonly kind: 'due';
      readonly versions: string;
      /** The newest block; null: none is known, or it is too old. */
      readonly announced: BlockRef | null;
      /** How many pools the query finds. */
      readonly found: number;
      /** How many of them the frame is to show. */
      readonly wanted: number;
      /** These at the block that pools were last read at; null: at none yet. */
      readonly look: FrameLook<S> | null;
    };

export interface LevelsState {
  /** The versions that the last attempt saw. */
  readonly shown: string;
  /** When pools were last shown, or the source opened, milliseconds. */
  readonly shownAt: number;
  /** Pools that nodes do not give. */
  readonly missing: MissingPools;
}

/** What there is to do. `late`, `unknown`: there is no frame, as the chain is read or is not. */
export type LevelsEffect<S extends Snapshot> =
  | { readonly kind: 'nothing' | 'changed' | 'late' | 'unknown' }
  | FrameEffect<S>;

/** A frame that is to be written. */
export interface FrameEffect<S extends Snapshot> {
  readonly kind: 'frame';
  readonly block: BlockRef;
  readonly snapshots: readonly S[];
  /** How many pools that the query finds are left out for want of calls. */
  readonly unread: number;
}

/** The state of a source that opens now. */
export const newLevels = (now: number): LevelsState => ({ shown: '', shownAt: now, missing: NONE_MISSING });

/**
 * What becomes of the frames of a query, and what there is to do, when something happens.
 *
 * 1. A read is a change if the last attempt saw other versions.
 * 2. A frame of no pools needs nothing but a block. It does not count as one that shows pools.
 * 3. Without a read the chain is late while its newest block is known, and unknown otherwise.
 * 4. A frame of all who choose nothing waits `maxUnreadMs` at most for pools that others' calls keep from being read,
 *    if any pool is read. Other frames wait until each pool is read or given up.
 * 5. A frame shows pools of several states of the block being built only if none was shown for `MAX_MS`. It is named
 *    after such a block if it shows one.
 */
export function nextLevels<S extends Snapshot>(
  before: LevelsState,
  event: LevelsEvent<S>,
  now: number,
  { isPublic, maxUnreadMs }: LevelsLimits,
): readonly [LevelsState, LevelsEffect<S>] {
  if (event.kind === 'read') return [before, { kind: event.versions === before.shown ? 'nothing' : 'changed' }];
  const { announced, found, wanted, look, versions } = event;
  const unlooked = { ...before, shown: versions };
  if (wanted === 0 && announced) return [unlooked, { kind: 'frame', block: announced, snapshots: [], unread: found }];
  if (wanted === 0 || !look) return [unlooked, { kind: announced && wanted > 0 ? 'late' : 'unknown' }];
  const [missing, pools] = nextAwaited(before.missing, look, now, maxUnreadMs);
  const state = { ...unlooked, missing };
  const lateMs = now - before.shownAt;
  const isShort = isPublic && pools.read.length > 0 && lateMs >= maxUnreadMs;
  const contents = frameContents(isShort ? { ...pools, unread: [] } : pools, lateMs >= MAX_MS);
  if (contents === 'late' || contents === null) return [state, { kind: contents ?? 'unknown' }];
  const block = contents.find((snapshot) => snapshot.block.pending)?.block ?? look.block;
  const unread = found - wanted + (isShort ? pools.unread.length : 0);
  return [
    { ...state, shownAt: now },
    { kind: 'frame', block, snapshots: contents, unread },
  ];
}
