/** How long an answer stands. */
const STANDS_MS = 1_000;

/**
 * A question whose answer all who ask within a second share, so that what it costs does not depend on how often it is
 * asked: `/ready` is on the public port and no request limit counts it.
 */
export function sharedCheck<T>(check: () => Promise<T>, now: () => number = () => performance.now()): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let askedAt = 0;
  return () => {
    if (answer !== undefined && now() - askedAt < STANDS_MS) return answer;
    askedAt = now();
    answer = check();
    return answer;
  };
}
