import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countBlocks, Pace } from './pace.ts';

test('blocks are counted from the first one of each chain to its head', () => {
  const position = {
    startBlocks: new Map([
      [1, 100],
      [56, 0],
      [137, 50],
    ]),
    indexed: new Map([
      [1, 150],
      [56, 40],
    ]),
    heads: new Map([
      [1, 300],
      [56, 30],
      [137, 40],
    ]),
  };
  // Chain 56 is indexed beyond the head that was seen; chain 137 has not reached its first block.
  expect(countBlocks(position)).toEqual({ total: 200 + 30 + 0, done: 50 + 30 + 0 });
});

test('rates are means of the last half minute', () => {
  const pace = new Pace();
  expect(pace.measure(0, { total: 1_000, done: 0 }, 0)).toMatchObject({ eventsPerSec: 0, secondsLeft: null });
  expect(pace.measure(10_000, { total: 1_000, done: 100 }, 5_000)).toMatchObject({
    eventsPerSec: 500,
    secondsLeft: 90,
  });
  // The first look is forgotten: 100 blocks and 1,000 events in the 30 s since the second.
  expect(pace.measure(40_000, { total: 1_000, done: 200 }, 6_000)).toMatchObject({
    eventsPerSec: 33,
    secondsLeft: 240,
  });
  expect(pace.measure(41_000, { total: 1_000, done: 1_000 }, 6_000).secondsLeft).toBe(0);
});

test('whatever the counters do, a rate is not negative and the time left is a whole number or unknown', () => {
  const look = fc.record({ step: fc.nat(60_000), done: fc.nat(1_000), more: fc.nat(1_000), events: fc.nat(10_000) });
  fc.assert(
    fc.property(fc.array(look, { minLength: 1 }), (looks) => {
      const pace = new Pace();
      let atMs = 0;
      for (const { step, done, more, events } of looks) {
        atMs += step;
        const progress = pace.measure(atMs, { total: done + more, done }, events);
        expect(progress.eventsPerSec).toBeGreaterThanOrEqual(0);
        expect(progress.secondsLeft === null || Number.isSafeInteger(progress.secondsLeft)).toBe(true);
        expect(progress).toMatchObject({ totalBlocks: done + more, doneBlocks: done, events });
      }
    }),
  );
});
