/**
 * Options of an `LRUCache` of at most this many entries, which takes memory as they come: `max` takes that of all at
 * once, in a millisecond for 10,000.
 */
export const growingTo = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
