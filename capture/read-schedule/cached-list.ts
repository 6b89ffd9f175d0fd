import type { Clock } from '../../runtime/clock.ts';
import { cacheResult } from '../../runtime/result-cache.ts';

/**
 * A list is used for this many times as long as its load took,
 * so that quick loads take at most a hundredth of the time.
 */
const USE_PER_LOAD = 100;
const MIN_USE_MS = 2_000;
/** After a slow load, such as the first of a process, a new pool would wait too long for its first reads. */
const MAX_USE_MS = 10_000;

/** Caches what `load` gives for 100 times as long as it took, at least 2 s and at most 10 s. */
export const cacheList = <T>(load: () => Promise<T>, now: Clock): (() => Promise<T>) =>
  cacheResult(load, (_list, tookMs) => Math.min(MAX_USE_MS, Math.max(MIN_USE_MS, tookMs * USE_PER_LOAD)), now);
