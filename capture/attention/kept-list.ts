import type { Clock } from '../../chain/circuit-breaker.ts';

const USED_AT_LEAST_MS = 2_000;

/**
 * Keeps what `load` gave for so many times as long as it took: with 100, loading takes a hundredth of the time at most. Those who
 * ask while it loads wait for the same load.
 */
export function keepList<T>(load: () => Promise<T>, usePerLoad: number, now: Clock): () => Promise<T> {
  let kept: Promise<T> | undefined;
  let usedUntil = Number.POSITIVE_INFINITY;
  return () => {
    if (kept && now() < usedUntil) return kept;
    const begun = now();
    usedUntil = Number.POSITIVE_INFINITY;
    kept = load();
    kept.then(
      () => {
        usedUntil = now() + Math.max(USED_AT_LEAST_MS, (now() - begun) * usePerLoad);
      },
      () => {
        kept = undefined;
      },
    );
    return kept;
  };
}
