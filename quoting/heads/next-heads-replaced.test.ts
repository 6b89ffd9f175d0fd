import { afterEach, expect, test } from 'vitest';
import { chainOf } from './driven-heads.fixture.ts';
import { forgetForks, forks, head } from './test-chain.fixture.ts';

afterEach(forgetForks);

test('another hash at a height that was seen is a reorg: the head follows it, even down', () => {
  forks.b = 9;
  const { chain, numberAt } = chainOf(1_000);
  for (const number of [8, 9, 10]) {
    chain.heads = [head(number)];
    numberAt(number * 2_000);
  }
  chain.heads = [head(9, 'b')];
  expect(numberAt(30_000)).toBe(9);
  chain.heads = [head(10, 'b')];
  expect(numberAt(32_000)).toBe(10);
});

test('a reorganisation that came while nobody asked is followed by who asks later', () => {
  forks.b = 9;
  const { chain, tracked, numberAt } = chainOf(1_000);
  for (const number of [8, 9, 10]) {
    chain.heads = [head(number)];
    numberAt(number * 2_000);
  }
  // Too soon after the last head to be taken at once.
  chain.ms = 20_200;
  tracked.push(head(9, 'b'));
  chain.heads = [head(9, 'b')];
  expect(numberAt(60_000)).toBe(9);
});

test('a lower head is of another branch if it is later than the last one, even below all known blocks', () => {
  const { chain, tracked, numberAt, names } = chainOf(1_000);
  chain.heads = [head(10)];
  numberAt(0);
  chain.ms = 2_000;
  const { block } = head(8, 'b');
  // That may be one of a node that lags.
  tracked.push({ block: { ...block, timestamp: 10n } });
  expect(numberAt(2_000)).toBe(10);
  tracked.push({ block: { ...block, timestamp: 11n } });
  expect(numberAt(2_000)).toBe(8);
  expect(names).toEqual(['a10', 'b8 from 9']);
});

test('another hash at the same height is followed too', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(1, 'b')];
  numberAt(2_000);
  expect(tracked.current?.block.hash).toBe('0xb1');
});

test('a chain that stays behind for long was rolled back', () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  numberAt(0);
  chain.heads = [head(6)];
  expect(numberAt(2_000)).toBe(10);
  expect(numberAt(11_999)).toBe(10);
  expect(numberAt(13_000)).toBe(6);
});

test('a chain that stays at the block before one that nodes refuse was rolled back to it, for listeners too', () => {
  const { chain, tracked, numberAt, names } = chainOf(1_000);
  chain.heads = [head(5)];
  numberAt(0);
  chain.ms = 2_000;
  tracked.push(head(6));
  tracked.reject(head(6));
  for (let ms = 3_000; ms < 12_000; ms += 1_000) expect(numberAt(ms)).toBe(5);
  expect(names).toEqual(['a5', 'a6']);
  for (let ms = 12_000; ms < 40_000; ms += 1_000) expect(numberAt(ms)).toBe(5);
  expect(names).toEqual(['a5', 'a6', 'a5 from 6']);
});

test('a listener gets each head that is taken, and from where blocks were replaced', () => {
  forks.b = 2;
  const { chain, numberAt, names } = chainOf(1_000);
  numberAt(0);
  for (const [ms, number, fork] of [
    [1_000, 2, 'a'],
    [2_000, 3, 'a'],
    [3_000, 3, 'a'],
    [5_000, 2, 'b'],
    [6_000, 4, 'b'],
  ] as const) {
    chain.heads = [head(number, fork)];
    numberAt(ms);
  }
  expect(names).toEqual(['a1', 'a2', 'a3', 'b2 from 2', 'b4']);
});

test('a chain that was rolled back is reported as replaced above its new head', () => {
  const { chain, numberAt, names } = chainOf(1_000);
  for (const number of [5, 6, 7]) {
    chain.heads = [head(number)];
    numberAt(number * 2_000);
  }
  chain.heads = [head(5)];
  numberAt(16_000);
  numberAt(27_000);
  expect(names).toEqual(['a5', 'a6', 'a7', 'a5 from 6']);
});

test('a rejected head that was never read gives way to the one before', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(1_000_000, 'f')];
  numberAt(2_000);
  tracked.reject(head(1_000_000, 'f'));
  expect(tracked.current?.block.number).toBe(1n);
  expect(tracked.announced).toBeUndefined();
  chain.heads = [head(2)];
  expect(numberAt(2_001)).toBe(2);
});

test('a rejected head that was read stays until a higher one, or another in its place, comes', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(2)];
  numberAt(2_000);
  tracked.read(head(2));
  // The next node is behind.
  chain.heads = [head(1)];
  const { polls } = chain;
  for (let times = 0; times < 10; times += 1) tracked.reject(head(2));
  expect(tracked.announced).toBeUndefined();
  for (const ms of [2_001, 2_600, 3_200]) expect(numberAt(ms)).toBe(2);
  // Refusals make polls due, but start none.
  expect(chain.polls - polls).toBeLessThanOrEqual(3);
  chain.heads = [head(2, 'b')];
  numberAt(4_000);
  expect(tracked.current?.block.hash).toBe('0xb2');
});

test('a rejected head comes back when a read at it arrives late, unless a higher one was taken', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(2)];
  numberAt(2_000);
  tracked.reject(head(2));
  tracked.read(head(2));
  expect(tracked.current?.block.number).toBe(2n);
  chain.heads = [head(3)];
  expect(numberAt(2_001)).toBe(3);
  tracked.reject(head(3));
  chain.heads = [head(4)];
  expect(numberAt(2_002)).toBe(4);
  tracked.read(head(3));
  expect(tracked.current?.block.number).toBe(4n);
  // So does one of several.
  chain.heads = [head(5)];
  numberAt(3_000);
  tracked.reject(head(5));
  chain.heads = [head(6)];
  numberAt(3_001);
  tracked.reject(head(6));
  tracked.read(head(5));
  expect(tracked.current?.block.number).toBe(5n);
});

test('a head at which nodes refused reads is reported as replaced when another takes its place', () => {
  forks.b = 2;
  const { chain, tracked, numberAt, names } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(2, 'b')];
  numberAt(2_000);
  tracked.reject(head(2, 'b'));
  chain.heads = [head(2)];
  numberAt(2_001);
  expect(names).toEqual(['a1', 'b2', 'a2 from 2']);
});

test('a block that replaced the one before a rejected head is taken, also at its height', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  for (const number of [2, 3, 4]) {
    advanceTo(chain.ms + 500);
    tracked.push(head(number));
  }
  chain.heads = [head(2, 'b')];
  numberAt(4_000);
  expect(tracked.current?.block.hash).toBe('0xb2');
  tracked.reject(head(2, 'b'));
  expect(tracked.current?.block.hash).toBe('0xa4');
  chain.heads = [head(4, 'c')];
  numberAt(5_000);
  expect(tracked.current?.block.hash).toBe('0xc4');
});
