import type { Clock } from '../../chain/circuit-breaker.ts';

/** A list is used for so many times as long as it took to load: loading takes a hundredth of the time at most. */
const USED_PER_LOAD = 100;
const USED_AT_LEAST_MS = 2_000;

/** Keeps what `load` gave, the longer the longer it took. Those who ask while it loads wait for the same load. */
export function keepList<T>(load: () => Promise<T>, now: Clock): () => Promise<T> {
  let kept: Promise<T> | undefined;
  let usedUntil = Number.POSITIVE_INFINITY;
  return () => {
    if (kept && now() < usedUntil) return kept;
    const begun = now();
    usedUntil = Number.POSITIVE_INFINITY;
    kept = load();
    kept.then(
      () => {
        usedUntil = now() + Math.max(USED_AT_LEAST_MS, (now() - begun) * USED_PER_LOAD);
      },
      () => {
        kept = undefined;
      },
    );
    return kept;
  };
}
