import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTogether } from './count-together.ts';

test('each request gets its own count in the order of arrival, and a client has one call at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 }),
      async (s, clients) => {
        const counts = new Map<string, number>();
        const underWay = new Map<string, number>();
        const count = countTogether(async (client, requests) => {
          underWay.set(client, (underWay.get(client) ?? 0) + 1);
          expect(underWay.get(client)).toBe(1);
          await s.schedule(Promise.resolve(), 'count');
          counts.set(client, (counts.get(client) ?? 0) + requests);
          const after = counts.get(client) ?? 0;
          await s.schedule(Promise.resolve(), 'reply');
          underWay.set(client, 0);
          return { requests: after, msBeforeNext: 7 };
        });
        const begun = new Map<string, Promise<number>[]>();
        const arrivals = clients.map((client) =>
          s.schedule(Promise.resolve(), 'request').then(() => {
            const counted = count(client).then(({ requests }) => requests);
            begun.set(client, [...(begun.get(client) ?? []), counted]);
          }),
        );
        await s.waitFor(Promise.all(arrivals));
        for (const [client, counted] of begun) {
          const numbers = await s.waitFor(Promise.all(counted));
          expect(numbers).toEqual(clients.filter((each) => each === client).map((_, index) => index + 1));
        }
      },
    ),
  );
});

test('requests that come while a call is under way share the next one', async () => {
  const calls: number[] = [];
  const replies: (() => void)[] = [];
  let total = 0;
  const count = countTogether(async (_, requests) => {
    calls.push(requests);
    total += requests;
    const after = total;
    await new Promise<void>((resolve) => replies.push(resolve));
    return { requests: after, msBeforeNext: 7 };
  });
  const first = count('a');
  await expect.poll(() => replies.length).toBe(1);
  const others = Array.from({ length: 9 }, () => count('a'));
  replies[0]?.();
  await first;
  await expect.poll(() => replies.length).toBe(2);
  replies[1]?.();
  expect((await Promise.all([first, ...others])).map(({ requests }) => requests)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ]);
  expect(calls).toEqual([1, 9]);
});

test('a failed call fails those that wait, and the next request tries again', async () => {
  let calls = 0;
  const fail: (() => void)[] = [];
  const count = countTogether(async () => {
    calls += 1;
    if (calls === 1) await new Promise<void>((_, reject) => fail.push(() => reject(new Error('no reply'))));
    return { requests: 1, msBeforeNext: 7 };
  });
  const first = count('a');
  await expect.poll(() => fail.length).toBe(1);
  const waiting = count('a');
  fail[0]?.();
  expect((await Promise.allSettled([first, waiting])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([calls, (await count('a')).requests, calls]).toEqual([1, 1, 2]);
});
