import type { BlockRef } from '../../chain/read-context.ts';
import type { Snapshot } from '../types.ts';
import { type RequestedPool, warmKey } from './requested-pools.ts';

/** Which requested pools were read, and when. All times are of one clock, milliseconds. */
export interface WarmProgress {
  /** The state that reads are at; '' while there is none. */
  readonly state: string;
  /** Keys of the reads that succeeded there. */
  readonly done: ReadonlySet<string>;
  /** When and at which block each requested read last succeeded, by key. */
  readonly lastReads: ReadonlyMap<string, LastRead>;
}

interface LastRead {
  readonly at: number;
  readonly block: BlockRef;
}

/** What decides whether the last read of a pool is used at a newer state. */
export interface Keeping {
  /** For how long after its last read a pool need not be read. */
  readonly keepMs: number;
  readonly block: BlockRef;
  readonly now: number;
  /** Whether the next state is read soon, so that this one decides nothing. */
  readonly isSuperseded: boolean;
}

export const NO_PROGRESS: WarmProgress = { state: '', done: new Set(), lastReads: new Map() };

/** Begins reads at a state, of which none was made unless it is the same as before. */
export const progressAt = (progress: WarmProgress, state: string): WarmProgress =>
  progress.state === state ? progress : { ...progress, state, done: new Set() };

export const isDone = ({ done }: WarmProgress, read: RequestedPool): boolean => done.has(warmKey(read));

/**
 * Notes reads that succeeded: at the state, unless they are provisional.
 *
 * @param isCurrent whether reads are still at it
 */
export function withReads(
  { state, done, lastReads }: WarmProgress,
  reads: readonly { readonly read: RequestedPool; readonly snapshot: Snapshot }[],
  isCurrent: boolean,
  now: number,
): WarmProgress {
  const keys = reads.flatMap(({ read, snapshot }) => (snapshot.isProvisional ? [] : [warmKey(read)]));
  const added = reads.map(({ read, snapshot: { block } }) => [warmKey(read), { at: now, block }] as const);
  return { state, done: isCurrent ? new Set([...done, ...keys]) : done, lastReads: new Map([...lastReads, ...added]) };
}

/** Forgets the reads of pools that are not requested any more. */
export function withOnly(progress: WarmProgress, requested: readonly RequestedPool[]): WarmProgress {
  const keys = new Set(requested.map(warmKey));
  const lastReads = new Map([...progress.lastReads].filter(([key]) => keys.has(key)));
  return { ...progress, done: progress.done.intersection(keys), lastReads };
}

/**
 * Whether the last read of a pool is used at a newer state: while it is young, and if it was live, on the same block
 * and as long as any price is live there.
 */
export function isKept({ lastReads }: WarmProgress, read: RequestedPool, keeping: Keeping): boolean {
  const { keepMs, block, now, isSuperseded } = keeping;
  const last = lastReads.get(warmKey(read));
  if (!last || now - last.at >= keepMs) return false;
  return isSuperseded || !last.block.pending || (last.block.hash === block.hash && block.pending !== undefined);
}
