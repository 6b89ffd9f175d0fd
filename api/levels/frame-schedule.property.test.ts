import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FeedRun, PACE, type Step } from './feed-run.fixture.ts';
import { MAX_SILENCE_MS } from './frame-schedule.ts';

const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.integer({ min: 0, max: 1_500 }),
  what: fc.constantFrom('join', 'leave', 'change', 'change', 'readiness'),
  isReady: fc.boolean(),
  of: fc.nat(5),
  made: fc.constantFrom('frame', 'frame', 'late', null),
});

test('whatever happens, frames keep their distance, none is old, and nobody is sent away twice', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const { seen, sent, joinedAt } = new FeedRun(steps);
      for (const times of sent)
        for (const [index, at] of times.slice(1).entries())
          expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(PACE.minMs);
      for (const { age } of seen) expect(age).toBeLessThanOrEqual(PACE.maxMs);
      // A reader's name is the step at which it joined.
      for (const { name, what, at, age } of seen)
        if (what === 'frame') expect(at - age).toBeGreaterThanOrEqual(joinedAt.get(name) ?? 0);
      const ended = seen.filter(({ what }) => what === 'end').map(({ name }) => name);
      expect(new Set(ended).size).toBe(ended.length);
    }),
  );
});

test('of a source that never gives a frame, every reader that is ready is sent away in time', () => {
  const silentMs = (none: 'late' | null) => (none === null ? MAX_SILENCE_MS : PACE.maxLateMs);
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), fc.constantFrom('late', null), (steps, none) => {
      const all = steps.map((each) => ({ ...each, made: none, isReady: true }));
      const { seen, readers, now } = new FeedRun(
        all.map((each) => (each.what === 'readiness' ? { ...each, what: 'join' } : each)),
      );
      expect(seen.every(({ what }) => what === 'end')).toBe(true);
      for (const { joinedAt } of readers.values()) expect(now - joinedAt).toBeLessThanOrEqual(silentMs(none));
    }),
  );
});
