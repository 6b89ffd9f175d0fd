import type { Clock } from '../../chain/circuit-breaker.ts';

/**
 * Limits an amount in each window; a window begins with the first use.
 *
 * @returns uses all of an amount or nothing of it: 0, else the time until the next window, in milliseconds
 */
export function windowLimit(size: number, windowMs: number, now: Clock = () => performance.now()) {
  let left = 0;
  let endsAt = Number.NEGATIVE_INFINITY;
  return (amount: number): number => {
    const at = now();
    if (at >= endsAt) {
      left = size;
      endsAt = at + windowMs;
    }
    if (amount > left) return endsAt - at;
    left -= amount;
    return 0;
  };
}
