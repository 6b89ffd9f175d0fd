import type { Address } from 'viem';
import { beforeEach, expect, test } from 'vitest';
import { RequestedPools } from './requested-pools.ts';

const [A, B, C]: readonly Address[] = ['0xa', '0xb', '0xc'] as never;
const pool = (address: Address | undefined, byKey = false) => ({
  address: address as Address,
  kind: 'prices' as const,
  byKey,
});

let now: number;
let requested: RequestedPools;

beforeEach(() => {
  now = 0;
  requested = new RequestedPools({ warmMs: 1_000, now: () => now });
});

test('pools that other processes have requests for are read, and are not its own', () => {
  requested.markRequested([pool(A)], 'prices', false);
  requested.setElsewhere([pool(B), pool(A, true), pool(B, true)]);
  expect(requested.own()).toEqual([pool(A)]);
  expect(requested.list()).toHaveLength(2);
  expect(requested.list()).toEqual(expect.arrayContaining([pool(A, true), pool(B, true)]));
  expect([A, B, C].map((each) => requested.has(each as Address))).toEqual([true, true, false]);
  now = 1_000;
  expect(requested.list()).toEqual(expect.arrayContaining([pool(A, true), pool(B, true)]));
  requested.setElsewhere([]);
  expect([A, B].map((each) => requested.has(each as Address))).toEqual([false, false]);
  expect([requested.list(), requested.own()]).toEqual([[], []]);
});

test('a pool that is pinned is requested whatever time passes, one that was asked for until it ends', () => {
  const release = requested.pin(A as Address, 'depths', true);
  requested.markRequested([pool(B)], 'prices', false);
  now = 5_000;
  expect([A, B].map((each) => requested.has(each as Address))).toEqual([true, false]);
  release();
  expect(requested.has(A as Address)).toBe(true);
  now = 6_000;
  expect(requested.has(A as Address)).toBe(false);
});
