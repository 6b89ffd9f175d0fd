import type { ReadinessCheck } from '../../runtime/health.ts';

/** How long an answer stands. */
const STANDS_MS = 1_000;

/**
 * A check whose answer all who ask within a second share: `/ready` is on the public port and no request limit counts it,
 * so what it costs must not depend on how often it is asked.
 */
export function sharedCheck(check: ReadinessCheck, now: () => number = () => performance.now()): ReadinessCheck {
  let answer: Promise<string | null> | undefined;
  let askedAt = 0;
  return () => {
    if (answer !== undefined && now() - askedAt < STANDS_MS) return answer;
    askedAt = now();
    answer = check();
    return answer;
  };
}
