/**
 * Rows that Ponder holds in memory, at most, by its own estimate. Beyond it Ponder forgets whole tables, in the order of
 * `ponder.schema.ts`, and never takes one back in whole.
 */
export const CACHE_BYTES = 128 * 1024 * 1024;
