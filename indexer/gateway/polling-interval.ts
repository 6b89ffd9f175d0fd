/** Polls per block time while a block is late. More polls find it sooner. */
const POLLS_PER_BLOCK = 4;
/** Ponder accepts no shorter interval. */
const MIN_POLLING_MS = 100;
const MAX_POLLING_MS = 1_000;

/** Milliseconds between two polls for a block that is due. */
export function pollingIntervalMs(blockTimeMs: number): number {
  return Math.min(MAX_POLLING_MS, Math.max(MIN_POLLING_MS, Math.floor(blockTimeMs / POLLS_PER_BLOCK)));
}
