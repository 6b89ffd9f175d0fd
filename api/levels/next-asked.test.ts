import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { type AskedEvent, type AskedState, KEEP_MS, NOT_ASKED, nextAsked } from './next-asked.ts';

const frame = Buffer.from('{}');

const eventOf = (kind: AskedEvent['kind'], isOutdated = false): AskedEvent =>
  kind === 'frame' ? { kind, frame } : kind === 'asked' ? { kind, isOutdated } : { kind };

/** Takes events at times. @returns the effects of the last one */
function after(...events: readonly (readonly [number, AskedEvent['kind']])[]) {
  let state: AskedState = NOT_ASKED;
  let effects = {};
  for (const [now, kind] of events) [state, effects] = nextAsked(state, eventOf(kind), now);
  return effects;
}

test('the first question opens the feed, and its first frame is the answer', () => {
  expect(after([0, 'asked'])).toEqual({ answer: null, reading: true, wakeAt: 20_000 });
  expect(after([0, 'asked'], [100, 'frame'])).toEqual({ answer: frame, reading: null, wakeAt: KEEP_MS });
});

test('a frame of the last second answers at once, an older one does not', () => {
  expect(after([0, 'asked'], [100, 'frame'], [1_000, 'asked'])).toMatchObject({ answer: frame, reading: null });
  expect(after([0, 'asked'], [100, 'frame'], [1_100, 'asked'])).toMatchObject({ answer: null, reading: null });
});

test('a frame of a block below the last one that was read answers nobody', () => {
  const [state] = nextAsked(nextAsked(NOT_ASKED, eventOf('asked'), 0)[0], eventOf('frame'), 100);
  expect(nextAsked(state, eventOf('asked', true), 101)[1]).toMatchObject({ answer: null, reading: null });
});

test('the feed is left 30 seconds after the last question', () => {
  const asked = [
    [0, 'asked'],
    [100, 'frame'],
    [500, 'asked'],
  ] as const;
  expect(after(...asked, [30_499, 'time'])).toMatchObject({ reading: null, wakeAt: 30_500 });
  expect(after(...asked, [30_500, 'time'])).toEqual({ answer: null, reading: false, wakeAt: null });
  expect(after(...asked, [30_500, 'time'], [40_000, 'asked'])).toMatchObject({ answer: null, reading: true });
});

test('a client hears that there is no frame when the feed says so, or after 20 seconds', () => {
  expect(after([0, 'asked'], [2_000, 'silence'])).toEqual({ answer: 'late', reading: null, wakeAt: null });
  expect(after([0, 'asked'], [2_000, 'silence'], [2_001, 'asked'])).toMatchObject({ reading: true });
  expect(after([0, 'asked'], [9_000, 'asked'], [20_000, 'time'])).toMatchObject({ answer: 'late', reading: null });
});

test('whatever happens, one reader is open while clients wait, no client waits too long, and no feed stays open', () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 12_000 }),
    kind: fc.constantFrom<AskedEvent['kind']>('asked', 'frame', 'silence', 'time'),
    isOutdated: fc.boolean(),
  });
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let [state, now, isReading, wakeAt]: [AskedState, number, boolean, number | null] = [NOT_ASKED, 0, false, null];
    let waiting: number[] = [];
    let [askedAt, lastFrame]: [number, number | null] = [0, null];
    const take = (kind: AskedEvent['kind'], isOutdated = false) => {
      if (kind === 'asked') {
        waiting.push(now);
        askedAt = now;
      }
      const [next, effects] = nextAsked(state, eventOf(kind, isOutdated), now);
      state = next;
      if (kind === 'silence') isReading = false;
      if (kind === 'frame') lastFrame = now;
      if (effects.reading !== null) {
        // Opened only when it is not open, left only when it is.
        expect(isReading).toBe(!effects.reading);
        isReading = effects.reading;
      }
      if (kind === 'asked' && isOutdated) expect(effects.answer).toBeNull();
      if (effects.answer !== null) {
        if (effects.answer !== 'late') expect(now - (lastFrame ?? Number.NEGATIVE_INFINITY)).toBeLessThan(1_000);
        waiting = [];
      }
      wakeAt = effects.wakeAt;
      expect(state.isReading).toBe(isReading);
      if (waiting.length > 0) expect(isReading).toBe(true);
      for (const since of waiting) expect(now - since).toBeLessThan(20_000);
    };
    for (const { ms, kind, isOutdated } of steps) {
      const until = now + ms;
      while (wakeAt !== null && wakeAt <= until) {
        now = Math.max(now, wakeAt);
        take('time');
      }
      now = until;
      // Feeds send nothing to those who left.
      if (isReading || kind === 'asked' || kind === 'time') take(kind, isOutdated);
      if (isReading && waiting.length === 0) expect(now).toBeLessThan(askedAt + KEEP_MS);
    }
  });
  fc.assert(property, { numRuns: runs(1_000) });
});
