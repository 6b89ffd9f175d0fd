import { expect, test } from 'vitest';
import { type SyncingChain, SyncProgress } from './sync-progress.ts';

const chain = (blockNumber: number | null, change: Partial<SyncingChain> = {}): SyncingChain => ({
  chainId: 8453,
  name: 'base',
  headBlock: 41_000_000,
  firstSync: { fromBlock: 40_000_000, blockNumber, logs: 1_234 },
  ...change,
});

test('blocks, events, rate and time left of each chain', () => {
  const progress = new SyncProgress();
  expect(progress.lines([chain(null)], 0)).toEqual(['base: 0 of 1,000,000 blocks (0%), 1,234 events']);
  const all = [chain(40_100_000), chain(null, { chainId: 1, name: 'ethereum', headBlock: null })];
  expect(progress.lines(all, 10_000)).toEqual([
    'base: 100,000 of 1,000,000 blocks (10%), 1,234 events, 10,000 blocks/s, 2 min left',
    'ethereum: no node gives its newest block',
  ]);
  expect(progress.lines([chain(40_900_000)], 20_000)[0]).toContain('45,000 blocks/s, 3 s left');
});

test('the rate is that of the last minute, so that a pause is seen', () => {
  const progress = new SyncProgress();
  for (const secs of [0, 30, 60]) progress.lines([chain(40_000_000 + 1_000 * secs)], 1_000 * secs);
  expect(progress.lines([chain(40_060_000)], 90_000)[0]).toContain('500 blocks/s, 32 min left');
  expect(progress.lines([chain(40_060_000)], 121_000)[0]).toBe('base: 60,000 of 1,000,000 blocks (6%), 1,234 events');
});

test('a chain whose index serves is not shown', () => {
  expect(new SyncProgress().lines([chain(1, { firstSync: null })], 0)).toEqual([]);
});

test('an index beyond the head of a node that lags is complete', () => {
  expect(new SyncProgress().lines([chain(41_000_005)], 0)[0]).toContain('1,000,005 of 1,000,000 blocks (100%)');
});
