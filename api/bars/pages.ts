/** A time later than any block, Unix seconds. */
export const NEWEST = 2 ** 40;
/** How long caches may keep a page that can no longer change. */
export const FINAL_MAX_AGE_SECS = 3_600;
