import type { ChainConfig } from '../../config/chains-schema.ts';
import { partSource } from '../../config/live-schema.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Clock } from '../../runtime/clock.ts';
import { pause } from '../../runtime/pause.ts';
import type { LiveRead, ReadLive } from './live-quotes.ts';

export interface LiveWindowDeps {
  readonly chain: Pick<ChainConfig, 'live'>;
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
/** A read that ends later than this after its moment says nothing of it. */
export const MAX_LATE_MS = 150;

/**
 * Reads live prices now, and later. After parts, only later: what they are compared with is the block's state. Else
 * nothing more is read without the first ones, which they would be compared with.
 */
export async function readLiveWindow(
  { chain, readLive, now }: LiveWindowDeps,
  pools: readonly ServedPool[],
): Promise<LiveWindow> {
  const nothing = { shown: null, later: [null, null] } as const;
  if (!readLive) return nothing;
  const startedAt = now();
  const readAfter = async (ms: number) => {
    await pause(Math.max(0, startedAt + ms - now()));
    const read = await readLive(pools);
    return now() - startedAt - ms <= MAX_LATE_MS ? read : null;
  };
  const hasParts = partSource(chain.live) !== undefined;
  const shown = hasParts ? null : await readAfter(0);
  if (!hasParts && !shown) return nothing;
  const [soon, late] = LIVE_MS;
  return { shown, later: [await readAfter(soon), await readAfter(late)] };
}
