const SILENT_BLOCKS = 2;
const LEAST_MS = 1_000;

/** How long after a head a socket that tells no other counts as silent: two block times, and at least a second. */
export const silentAfterMs = (blockTimeMs: number): number => Math.max(LEAST_MS, SILENT_BLOCKS * blockTimeMs);
