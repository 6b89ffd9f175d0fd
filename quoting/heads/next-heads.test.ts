import { expect, test } from 'vitest';
import { chainOf } from './driven-heads.fixture.ts';
import { head } from './test-chain.fixture.ts';

test('polls depend on time, not on the number of requests', () => {
  const { chain, numberAt } = chainOf(200);
  for (let ms = 0; ms < 10_000; ms += 5) numberAt(ms);
  expect(chain.polls).toBeLessThanOrEqual(20);
  expect(chain.polls).toBeGreaterThanOrEqual(18);
});

test('while a poll is in flight no other starts', () => {
  const { chain, tracked, numberAt } = chainOf(200);
  chain.delayMs = 4_000;
  const stop = tracked.watch();
  for (let ms = 0; ms < 3_999; ms += 10) numberAt(ms);
  expect(chain.polls).toBe(1);
  expect(numberAt(4_000)).toBe(1);
  stop();
  expect(tracked.isWoken).toBe(false);
});

test('a slow chain is polled about four times a block, and a new block is seen within a second', () => {
  const { chain, numberAt } = chainOf(12_000);
  const delays: number[] = [];
  for (let ms = 0; ms < 120_000; ms += 20) {
    const produced = Math.floor(ms / 12_000) + 1;
    chain.heads = [head(produced)];
    if (numberAt(ms) < produced) delays.push(ms - (produced - 1) * 12_000);
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
  expect(chain.polls).toBeLessThanOrEqual(45);
});

test('a chain that stands still is not polled more often for those who ask', () => {
  const { chain, numberAt } = chainOf(1_000);
  for (let ms = 0; ms < 2_000; ms += 10) numberAt(ms);
  expect(chain.polls).toBeLessThanOrEqual(4);
});

test('a chain that is watched is polled without a request, and after failures, as long as anyone watches', () => {
  const { chain, tracked, advanceTo } = chainOf(1_000);
  const advance = (ms: number) => {
    for (const end = chain.ms + ms; chain.ms < end; ) {
      chain.heads = [head(Math.floor((chain.ms + 50) / 1_000))];
      advanceTo(chain.ms + 50);
    }
  };
  const stops = [tracked.watch(), tracked.watch()];
  advance(5_500);
  expect(tracked.current?.block.number).toBe(5n);
  chain.isDown = true;
  const { polls } = chain;
  advance(5_000);
  expect(chain.polls - polls).toBeLessThanOrEqual(10);
  chain.isDown = false;
  advance(1_000);
  expect(tracked.current?.block.number).toBe(11n);
  stops[0]?.();
  advance(1_000);
  expect(tracked.current?.block.number).toBe(12n);
  stops[1]?.();
  advance(5_000);
  expect([tracked.current?.block.number, tracked.isWoken]).toEqual([12n, false]);
});

test('a head is not announced beyond its time while the chain cannot be seen', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.isDown = true;
  advanceTo(999);
  expect(tracked.announced).toEqual(head(1));
  advanceTo(1_001);
  expect(tracked.announced).toBeUndefined();
  tracked.ask();
  expect(tracked.announced).toBeUndefined();
  chain.isDown = false;
  chain.heads = [head(2)];
  expect(numberAt(1_100)).toBe(2);
});

test('a node that lags never takes the head back', () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  expect(numberAt(0)).toBe(10);
  chain.heads = [head(7)];
  for (let ms = 1_000; ms < 9_000; ms += 500) expect(numberAt(ms)).toBe(10);
});

test('when the first node is stuck and a block is overdue, the highest of all nodes counts', () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(5), head(5), head(5)];
  expect(numberAt(0)).toBe(5);
  chain.heads = [head(5), head(8), head(7)];
  expect(numberAt(1_000)).toBe(5);
  expect(numberAt(2_600)).toBe(8);
});
