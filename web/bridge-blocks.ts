import type { LiveQuote, Show } from './followed-chain.ts';

/** How long live prices stay when a block ends them. */
const NEXT_LIVE_MS = 1_000;

/** The committed quote that is shown when no live one comes, and what shows it. */
type Waiting = { quote: LiveQuote; readonly timer: ReturnType<typeof setTimeout> };

/** Shows a committed price after a live one only if no live one follows: makers need a moment for the next block. */
export function bridgeBlocks(show: Show, signal: AbortSignal): Show {
  /** Pools that show a live price. */
  const bridged = new Map<string, Waiting | null>();
  return (pool, live) => {
    const waiting = bridged.get(pool);
    const isLive = live.quote?.basis?.kind === 'live';
    if (live.quote && !isLive && waiting !== undefined) {
      if (waiting) waiting.quote = live;
      else bridged.set(pool, { quote: live, timer: setTimeout(end, NEXT_LIVE_MS, pool) });
      return;
    }
    clearTimeout(waiting?.timer);
    if (isLive) bridged.set(pool, null);
    else bridged.delete(pool);
    show(pool, live);
  };

  function end(pool: string): void {
    const waiting = bridged.get(pool);
    bridged.delete(pool);
    if (waiting && !signal.aborted) show(pool, waiting.quote);
  }
}
