import { expect, test } from 'vitest';
import { cacheList } from './cached-list.ts';

test.each([
  ['for 100 times as long as it took to load', 30, 3_000],
  ['for two seconds at least', 10, 2_000],
  ['for ten seconds at most', 600, 10_000],
])('a list is used %s', async (_name, loadMs, usedMs) => {
  let now = 0;
  let loads = 0;
  const list = cacheList(
    async () => {
      now += loadMs;
      return ++loads;
    },
    () => now,
  );
  expect([await list(), await list()]).toEqual([1, 1]);
  now = loadMs + usedMs - 1;
  expect(await list()).toBe(1);
  now += 1;
  expect([await list(), await list()]).toEqual([2, 2]);
});
