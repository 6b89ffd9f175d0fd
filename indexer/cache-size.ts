/**
 * Most bytes of rows that Ponder caches in memory, by its own estimate. Above it, Ponder evicts whole tables in the
 * order of `ponder.schema.ts`, and never again caches an evicted table completely.
 */
export const CACHE_BYTES = 128 * 1024 * 1024;
