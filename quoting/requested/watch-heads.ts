import type { Heads } from '../heads/heads.ts';

/** How often failed reads are retried at the same block, and an unreachable chain is tried again. */
const RETRY_MS = 5_000;
const TICK_MS = 500;

/**
 * Watches heads while pools are requested, and calls `run` when nothing else does but something is due.
 *
 * @param isAtState whether pools were read at a state
 * @param isRetryDue whether reads that failed may succeed now
 * @returns ends it
 */
export function watchHeads(
  heads: Pick<Heads, 'announced' | 'isTooOld' | 'watch'>,
  run: () => void,
  { isAtState, isRetryDue }: { readonly isAtState: () => boolean; readonly isRetryDue: () => boolean },
): () => void {
  const stopWatching = heads.watch();
  let ticks = 0;
  const tick = () => {
    ticks += 1;
    // A run reports to clients at once that the head became too old.
    const block = heads.announced?.block;
    const isOutdated = isAtState() && (!block || heads.isTooOld(block));
    if (isOutdated || isRetryDue() || (ticks * TICK_MS) % RETRY_MS === 0) run();
  };
  const retry = setInterval(tick, TICK_MS).unref();
  return () => {
    stopWatching();
    clearInterval(retry);
  };
}
