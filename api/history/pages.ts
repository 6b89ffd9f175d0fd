/** Later than any block. */
export const NEWEST = 2 ** 40;
/** How long caches may keep a page that does not change any more. */
export const FINAL_MAX_AGE_SECS = 3_600;
