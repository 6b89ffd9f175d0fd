import { afterEach, expect, test } from 'vitest';
import { chainOf } from './driven-heads.fixture.ts';
import { forgetForks, forks, head } from './test-chain.fixture.ts';

afterEach(forgetForks);

test('while heads are pushed the chain is not polled, and half a second after a block is missing it is', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  for (let number = 1; number <= 20; number += 1) {
    advanceTo(number * 1_000);
    tracked.push(head(number));
    expect(numberAt(number * 1_000 + 900)).toBe(number);
  }
  expect(chain.polls).toBe(0);
  chain.heads = [head(23)];
  chain.delayMs = 1;
  expect(numberAt(21_500)).toBe(20);
  // Both blocks below it are looked up, too.
  advanceTo(21_503);
  expect(tracked.current?.block.number).toBe(23n);
  // It is back, with a head that was looked up already.
  tracked.push(head(23));
  expect(numberAt(22_900)).toBe(23);
  expect(chain.polls).toBe(1);
});

test('a head that is pushed too early is taken when its time has come, and shows what was replaced meanwhile', () => {
  forks.b = 7;
  const { tracked, advanceTo, numberAt, names } = chainOf(1_000);
  tracked.push(head(7));
  for (const [ms, number, fork] of [
    [100, 8, 'a'],
    [200, 7, 'b'],
    [300, 9, 'b'],
    [400, 8, 'b'],
  ] as const) {
    advanceTo(ms);
    tracked.push(head(number, fork));
  }
  expect(numberAt(499)).toBe(7);
  expect(numberAt(500)).toBe(9);
  expect(names).toEqual(['a7', 'b9 from 7']);
});

test('a socket that lags never takes the head back', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  chain.heads = [head(100)];
  numberAt(0);
  for (let ms = 0; ms < 30_000; ms += 1_000) {
    advanceTo(ms);
    tracked.push(head(50 + ms / 1_000));
  }
  expect(tracked.current?.block.number).toBe(100n);
});

test('a socket that lags never takes the head back to a block that was replaced; nodes that refuse the head do', () => {
  forks.b = 9;
  const { chain, tracked, advanceTo } = chainOf(1_000);
  for (const number of [8, 9, 10]) {
    advanceTo(chain.ms + 500);
    tracked.push(head(number));
  }
  advanceTo(2_000);
  tracked.push(head(11, 'b'));
  advanceTo(3_000);
  expect(tracked.current?.block.hash).toBe('0xb11');
  for (const late of [head(9), head(10)]) {
    tracked.push(late);
    advanceTo(chain.ms + 500);
    expect(tracked.current?.block.hash).toBe('0xb11');
  }
  // The branch that was replaced counts after all.
  chain.heads = [head(10)];
  tracked.reject(head(11, 'b'));
  tracked.ask();
  advanceTo(5_000);
  expect(tracked.current?.block.hash).toBe('0xa10');
});

test('a head that waited in a socket counts by the age of its block', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  chain.wallMs = 20_500;
  tracked.push(head(20));
  expect([numberAt(1_400), chain.polls]).toEqual([20, 0]);
  // The process was paused for ten seconds, and reads what came meanwhile.
  advanceTo(11_400);
  chain.wallMs += 10_000;
  chain.heads = [head(30)];
  for (const number of [21, 22, 23]) tracked.push(head(number));
  expect(tracked.announced).toBeUndefined();
  expect(numberAt(11_400)).toBe(30);
});

test('a height that another process took makes a poll due, of all nodes if the first one is behind', () => {
  const { chain, tracked, numberAt } = chainOf(12_000);
  numberAt(0);
  expect(numberAt(1_000)).toBe(1);
  chain.heads = [head(1), head(2)];
  tracked.hear(2);
  expect(numberAt(1_000)).toBe(2);
  const stop = tracked.watch();
  const { polls } = chain;
  // Nothing is taken that nodes do not give, and they are polled as ever.
  tracked.hear(3);
  expect(numberAt(5_000)).toBe(2);
  expect(chain.polls - polls).toBeLessThanOrEqual(8);
  stop();
});

test('a head that another process took is taken at once, one below it when its time has come', () => {
  const { tracked, advanceTo } = chainOf(200);
  tracked.push(head(1));
  advanceTo(100);
  tracked.hear(3);
  tracked.push(head(2));
  expect(tracked.current).toEqual(head(1));
  tracked.push(head(3));
  expect(tracked.current?.block.number).toBe(3n);
  advanceTo(200);
  tracked.push(head(4));
  tracked.hear(4);
  // No more than one early in half a second.
  expect(tracked.current?.block.number).toBe(3n);
  advanceTo(700);
  tracked.hear(5);
  tracked.push(head(5));
  expect(tracked.current?.block.number).toBe(5n);
});
