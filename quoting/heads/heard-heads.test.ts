import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { awaitedHeight, FOLLOW_MS, type HeardHeads, withHeard, withoutReached } from './heard-heads.ts';

/** What a process hears, whose nodes are at a height. */
function processAt(reached: bigint) {
  let heard: HeardHeads = new Map();
  return {
    hear(from: string, number: bigint, now: number) {
      heard = withoutReached(withHeard(heard, { from, number }, now), reached);
    },
    reach(number: bigint) {
      reached = maxBigint(reached, number);
      heard = withoutReached(heard, reached);
    },
    awaited: (now: number) => awaitedHeight(heard, reached, now),
    get size() {
      return [...heard.values()].flatMap(({ heads }) => heads).length;
    },
  };
}

test('a height that another process took is awaited until the nodes have it', () => {
  const process = processAt(10n);
  process.hear('a', 10n, 0);
  expect(process.awaited(0)).toBeNull();
  process.hear('a', 12n, 100);
  process.hear('b', 11n, 150);
  expect(process.awaited(200)).toEqual({ number: 12n, until: 100 + FOLLOW_MS });
  process.reach(11n);
  expect(process.awaited(300)).toEqual({ number: 12n, until: 100 + FOLLOW_MS });
  process.reach(12n);
  expect(process.awaited(300)).toBeNull();
});

test('a process whose block does not come is not waited for again until it does, whatever it says; others are', () => {
  const process = processAt(10n);
  process.hear('liar', 1_000n, 0);
  expect(process.awaited(FOLLOW_MS - 1)?.number).toBe(1_000n);
  for (let now = FOLLOW_MS; now < 100_000; now += 500) {
    process.hear('liar', 1_000n + BigInt(now), now);
    expect(process.awaited(now)).toBeNull();
  }
  process.hear('b', 11n, 100_000);
  expect(process.awaited(100_001)).toEqual({ number: 11n, until: 100_000 + FOLLOW_MS });
  process.reach(11n);
  // It goes by the chain again.
  process.hear('liar', 12n, 100_100);
  expect(process.awaited(100_200)?.number).toBe(12n);
  process.hear('liar', 1_000n, 100_300);
  expect(process.awaited(100_400)).toBeNull();
});

test('a process that takes a block back is not waited for from there on, until the nodes have come as far', () => {
  const process = processAt(10n);
  for (let now = 0; now < 60_000; now += 1_000) {
    process.hear('flapping', 15n, now);
    expect(process.awaited(now + 1) === null).toBe(now > 0);
    process.hear('flapping', 10n, now + 500);
    expect(process.awaited(now + 501)).toBeNull();
  }
  process.hear('flapping', 11n, 60_000);
  expect(process.awaited(60_000)?.number).toBe(11n);
  process.reach(15n);
  process.hear('flapping', 16n, 60_500);
  expect(process.awaited(60_500)?.number).toBe(16n);
});

test('what is said again is not awaited for longer, and what is kept is bounded', () => {
  const process = processAt(10n);
  for (let now = 0; now < FOLLOW_MS; now += 100) process.hear('a', 11n, now);
  expect(process.awaited(FOLLOW_MS)).toBeNull();
  for (let number = 12n; number < 1_000n; number += 1n) process.hear('a', number, FOLLOW_MS);
  expect(process.size).toBeLessThanOrEqual(32);
  process.hear('b', 10n, 200_000);
  expect([process.size, process.awaited(200_000)]).toEqual([0, null]);
});

test('property: who is less than two seconds behind another process awaits its height, whatever liars say', () => {
  const step = fc.record({
    waitMs: fc.integer({ min: 0, max: 800 }),
    lagMs: fc.integer({ min: 0, max: FOLLOW_MS - 1 }),
    lie: fc.option(fc.bigInt({ min: 0n, max: 1_000n })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const process = processAt(0n);
      const arrivals: { readonly number: bigint; readonly at: number }[] = [];
      let [now, number, reached] = [0, 0n, 0n];
      for (const { waitMs, lagMs, lie } of steps) {
        now += waitMs;
        for (const arrival of arrivals) {
          if (arrival.at > now) continue;
          reached = maxBigint(reached, arrival.number);
          process.reach(arrival.number);
        }
        if (lie !== null) process.hear('liar', lie, now);
        number += 1n;
        process.hear('a', number, now);
        arrivals.push({ number, at: now + lagMs });
        expect(process.awaited(now)?.number).toBeGreaterThanOrEqual(number);
        expect(process.awaited(now)?.until).toBeLessThanOrEqual(now + FOLLOW_MS);
      }
    }),
    { numRuns: runs(200) },
  );
});
