import { describeWait } from '../harness/describe-wait.ts';

/** Asks until the answer is neither undefined nor false, every 10 ms. @throws Error after the time limit */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  limitMs = 20_000,
): Promise<Exclude<T, undefined | false>> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    if (performance.now() > giveUpAt) throw new Error(describeWait(ask, limitMs));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
