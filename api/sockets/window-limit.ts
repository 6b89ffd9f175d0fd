import type { Clock } from '../../runtime/clock.ts';
import { rateWindow } from '../../runtime/rate-window.ts';

/** @returns takes a whole amount and gives 0, or takes nothing and gives the milliseconds until the next window */
export function windowLimit(requests: number, windowSecs: number, now: Clock) {
  const take = rateWindow({ requests, windowSecs }, now);
  return (amount: number): number => {
    const { rejected, msBeforeNext } = take(amount);
    return rejected ? msBeforeNext : 0;
  };
}
