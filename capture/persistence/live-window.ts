import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Clock } from '../../runtime/clock.ts';
import { pause } from '../../runtime/pause.ts';
import type { LiveRead, ReadLive } from './live-quotes.ts';

export interface LiveWindowDeps {
  /** Reads live prices. Absent on a chain without a source of them. */
  readonly readLive?: ReadLive | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now: Clock;
}

/** What was read of live prices when a window opened, and 200 ms and 1 s later; null: nothing, or not in time. */
export interface LiveWindow {
  readonly shown: LiveRead | null;
  readonly later: readonly [LiveRead | null, LiveRead | null];
}

/** When live prices are read again, milliseconds. */
const LIVE_MS = [200, 1_000] as const;
/** What nodes or sources first showed later than this after a moment says nothing of it. */
export const MAX_LATE_MS = 150;

/**
 * Reads live prices now, and later. Without the first ones, which later ones are compared with, nothing more is read.
 * Reads may overlap.
 */
export async function readLiveWindow(
  { readLive, now }: LiveWindowDeps,
  pools: readonly ServedPool[],
): Promise<LiveWindow> {
  const nothing = { shown: null, later: [null, null] } as const;
  if (!readLive) return nothing;
  const startedAt = now();
  let isEmpty = false;
  const readAfter = async (ms: number) => {
    await pause(Math.max(0, startedAt + ms - now()));
    return isEmpty ? null : readLive(pools, startedAt + ms + MAX_LATE_MS);
  };
  const readShown = async () => {
    const read = await readAfter(0);
    isEmpty = read === null;
    return read;
  };
  const [soon, late] = LIVE_MS;
  const [shown, ...later] = await Promise.all([readShown(), readAfter(soon), readAfter(late)]);
  return shown ? { shown, later } : nothing;
}
