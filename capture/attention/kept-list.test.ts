import { expect, test } from 'vitest';
import { keepList } from './kept-list.ts';

test.each([
  ['for so many times as long as it took to load', 30, 100, 3_000],
  ['for two seconds at least', 10, 100, 2_000],
  ['as the setting says', 30, 1_000, 30_000],
])('a list is used %s', async (_name, loadMs, usePerLoad, usedMs) => {
  let now = 0;
  let loads = 0;
  const list = keepList(
    async () => {
      now += loadMs;
      return ++loads;
    },
    usePerLoad,
    () => now,
  );
  expect([await list(), await list()]).toEqual([1, 1]);
  now = loadMs + usedMs - 1;
  expect(await list()).toBe(1);
  now += 1;
  expect([await list(), await list()]).toEqual([2, 2]);
});
