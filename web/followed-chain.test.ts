import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Quote } from './api.ts';
import { FollowedChain, type Show } from './followed-chain.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('pools in sight share streams of 500, and each has its price', () => {
  const streams = new Map<readonly string[], Show>();
  const chain = new FollowedChain((pools, show) => {
    streams.set(pools, show);
    return () => streams.delete(pools);
  });
  const pools = Array.from({ length: 1_001 }, (_, index) => `0x${index}`);
  const watched = pools.map((pool) => chain.watch(pool));
  vi.advanceTimersByTime(50);
  expect([...streams.keys()].map(({ length }) => length)).toEqual([500, 500, 1]);
  for (const [named, show] of streams)
    for (const pool of named) show(pool, { quote: { pair: pool } as Quote, failure: null });
  expect(watched.map(({ live }) => live.value.quote?.pair)).toEqual(pools);

  // Removed pools stay until others come.
  for (const { stop } of watched.slice(0, 600)) stop();
  vi.advanceTimersByTime(50);
  expect(streams.size).toBe(3);
  chain.watch('0xnew').live.subscribe(() => undefined);
  vi.advanceTimersByTime(50);
  expect([...streams.keys()].map(({ length }) => length)).toEqual([402]);
});
