import { setTimeout as sleep } from 'node:timers/promises';

/** @throws Error with the code of a network that gave no answer, when the promise takes longer than `ms`; its work continues */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  const settled = new AbortController();
  const late = sleep(ms, undefined, { signal: settled.signal }).then(() => {
    throw Object.assign(new Error(`timeout: no reply in ${ms} ms`), { code: 'ETIMEDOUT' });
  });
  return Promise.race([promise, late]).finally(() => settled.abort());
}
