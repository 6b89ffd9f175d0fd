/** A block that is late is looked for this often per block time, so that it waits little before it is seen. */
const POLLS_PER_BLOCK = 4;
/** Ponder takes no shorter interval. */
const MIN_POLLING_MS = 100;
const MAX_POLLING_MS = 1_000;

/** Milliseconds between two looks for a block that is due. */
export function pollingIntervalMs(blockTimeMs: number): number {
  return Math.min(MAX_POLLING_MS, Math.max(MIN_POLLING_MS, Math.floor(blockTimeMs / POLLS_PER_BLOCK)));
}
