import type { Clock } from '../../chain/circuit-breaker.ts';

/** Loading a list may take a hundredth of the time. */
const USE_PER_LOAD = 100;
const MIN_USE_MS = 2_000;

/** Caches what `load` gives for 100 times as long as it took, at least 2 s. Those who ask while it loads share the load. */
export function cacheList<T>(load: () => Promise<T>, now: Clock): () => Promise<T> {
  let cached: Promise<T> | undefined;
  let usedUntil = Number.POSITIVE_INFINITY;
  return () => {
    if (cached && now() < usedUntil) return cached;
    const begun = now();
    usedUntil = Number.POSITIVE_INFINITY;
    cached = load();
    cached.then(
      () => {
        usedUntil = now() + Math.max(MIN_USE_MS, (now() - begun) * USE_PER_LOAD);
      },
      () => {
        cached = undefined;
      },
    );
    return cached;
  };
}
