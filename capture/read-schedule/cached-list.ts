import type { Clock } from '../../runtime/clock.ts';
import { cacheResult } from '../../runtime/result-cache.ts';

/** A list is used for this many times as long as its load took, so that loads take at most a hundredth of the time. */
const USE_PER_LOAD = 100;
const MIN_USE_MS = 2_000;

/** Caches what `load` gives for 100 times as long as it took, at least 2 s. */
export const cacheList = <T>(load: () => Promise<T>, now: Clock): (() => Promise<T>) =>
  cacheResult(load, (_list, tookMs) => Math.max(MIN_USE_MS, tookMs * USE_PER_LOAD), now);
