import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cacheResult, ResultCache } from './result-cache.ts';

const KEEP_MS = 100;

test('a result is made once for all who ask while it is made and kept, a failure for those that wait for it', async () => {
  const caller = fc.record({
    key: fc.constantFrom('a', 'b'),
    waitMs: fc.constantFrom(0, 1, 50, 99, 100),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(caller, { maxLength: 30 }), async (s, callers) => {
      let now = 0;
      /** By key: whether a result is being made, and the last one that was made. */
      const making = new Map<string, number>();
      const kept = new Map<string, { readonly made: number; readonly until: number }>();
      let makes = 0;
      const cache = new ResultCache<number>(10, undefined, () => now);
      const make = (key: string, fails: boolean) => async () => {
        const made = ++makes;
        expect([making.has(key), (kept.get(key)?.until ?? 0) > now]).toEqual([false, false]);
        making.set(key, made);
        await s.schedule(Promise.resolve(), 'made');
        making.delete(key);
        if (fails) throw new Error(String(made));
        kept.set(key, { made, until: now + KEEP_MS });
        return made;
      };
      const requests = callers.map(({ key, waitMs, fails }) =>
        s.schedule(Promise.resolve(), 'request').then(async () => {
          now += waitMs;
          const last = kept.get(key);
          const expected = making.get(key) ?? (last && last.until > now ? last.made : makes + 1);
          const result = cache.get(key, make(key, fails), KEEP_MS);
          expect(await result.catch(({ message }) => Number(message))).toBe(expected);
        }),
      );
      await s.waitFor(Promise.all(requests));
    }),
  );
});

test('without a time it is kept as memory permits, and one that takes all of it is not kept', async () => {
  const cache = new ResultCache<string>(10, (result) => result.length);
  const made: string[] = [];
  const request = (key: string) =>
    cache.get(key, async () => {
      made.push(key);
      return key.repeat(key === 'x' ? 11 : 4);
    });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b', 'x', 'x']) await request(key);
  expect(made.join('')).toBe('abcbxx');
});

test('with no time only those that wait share it', async () => {
  let made = 0;
  const result = cacheResult(async () => ++made, 0);
  expect([await Promise.all([result(), result()]), await result()]).toEqual([[1, 1], 2]);
});

test('a result whose place was taken meanwhile does not replace a newer one', async () => {
  const cache = new ResultCache<number>(1);
  const finish: (() => void)[] = [];
  const make = () => new Promise<number>((resolve) => finish.push(() => resolve(finish.length)));
  const requests = ['a', 'b', 'a'].map((key) => cache.get(key, make));
  for (const at of [2, 0]) {
    finish[at]?.();
    await requests[at];
  }
  expect(cache.get('a', make)).toBe(requests[2]);
});
