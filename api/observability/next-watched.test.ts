import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { mayBeHead, nextWatched, type Watched } from './next-watched.ts';

/* What is known of a chain over polls at any times. How the watch polls: `indexing-watch.test.ts`. */

const BOUNDS = { blockTimeMs: 1_000, maxLagMs: 30_000, maxQuoteAgeMs: 60_000 };
const point = fc.option(
  fc.integer({ min: 1, max: 100 }).map((number) => ({ number, timestamp: number })),
  { nil: null },
);
const poll = fc.record({
  ms: fc.constantFrom(0, 1_000, 29_999, 30_000, 30_001),
  indexed: point,
  head: point,
  isAtHead: fc.boolean(),
});

test('a chain is stalled unless a recent poll saw its index follow it, and while its nodes are far behind', () => {
  const property = fc.property(fc.array(poll, { maxLength: 40 }), (polls) => {
    let [before, now]: [Watched | undefined, number] = [undefined, 0];
    let followedAt: number | null = null;
    for (const { ms, head, isAtHead, ...seen } of polls) {
      now += ms;
      const indexed = isAtHead ? head : seen.indexed;
      const next = nextWatched(before, { indexed, head }, now, BOUNDS);
      const hasMoved = indexed?.number !== before?.indexed?.number;
      const isNear = indexed && head && Math.abs(indexed.number - head.number) <= 30;
      if (indexed && head && (indexed.number === head.number || (hasMoved && isNear))) followedAt = now;
      // 1 and 2.
      const isRecent = followedAt !== null && now - followedAt <= BOUNDS.maxLagMs;
      const isHeadLate = indexed !== null && head !== null && indexed.number - head.number > 60;
      expect(next).toEqual({ indexed, head, followedAt, stalled: isHeadLate || !isRecent });
      before = next;
    }
  });
  fc.assert(property, { numRuns: runs(300) });
});

test('a block may be the head for two block times, and a second that its timestamp leaves open', () => {
  const isYoung = [-3_000, 0, 3_000, 3_001].map((ageMs) =>
    mayBeHead({ number: 9, timestamp: 9 }, 9_000 + ageMs, 1_000),
  );
  expect(isYoung).toEqual([true, true, true, false]);
});
