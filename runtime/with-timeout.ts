/**
 * @throws Error with the code of a network that gave no answer, when the promise takes longer than `ms`;
 * its work continues
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(Object.assign(new Error(`timeout: no reply in ${ms} ms`), { code: 'ETIMEDOUT' }));
  }, ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
