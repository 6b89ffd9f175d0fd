import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { madeOf } from './made-frame.fixture.ts';
import { type AskedEvent, type AskedState, KEEP_MS, MAX_WAIT_MS, NOT_ASKED, nextAsked } from './next-asked.ts';

const frame = madeOf('{}');

/** A frame is begun when it comes, unless that is said. */
type Step = readonly [at: number, kind: AskedEvent['kind'], begunAt?: number];
const eventOf = ([at, kind, begunAt = at]: Step): AskedEvent =>
  kind === 'frame' ? { kind, frame, begunAt } : { kind };

/** Takes events at times. @returns the effects of the last one */
function after(...steps: readonly Step[]) {
  let state: AskedState = NOT_ASKED;
  let effects = {};
  for (const each of steps) [state, effects] = nextAsked(state, eventOf(each), each[0]);
  return effects;
}

test('the first question opens the feed, and its first frame is the answer', () => {
  expect(after([0, 'asked'])).toEqual({ answer: null, reading: true, wakeAt: 20_000 });
  const answer = { frame, count: 1 };
  expect(after([0, 'asked'], [100, 'frame'])).toEqual({ answer, reading: null, wakeAt: KEEP_MS });
});

test('a frame answers those who asked before it was begun', () => {
  const asked = [
    [0, 'asked'],
    [100, 'frame'],
    [200, 'asked'],
    [210, 'asked'],
    [220, 'asked'],
  ] as const;
  expect(after(...asked)).toEqual({ answer: null, reading: null, wakeAt: 20_200 });
  expect(after(...asked, [230, 'frame', 199])).toMatchObject({ answer: null, wakeAt: 20_200 });
  expect(after(...asked, [230, 'frame', 210])).toMatchObject({ answer: { frame, count: 2 }, wakeAt: 20_220 });
  expect(after(...asked, [230, 'frame', 210], [480, 'frame', 470])).toMatchObject({ answer: { frame, count: 1 } });
});

test('the feed is left 30 seconds after the last question', () => {
  const asked = [
    [0, 'asked'],
    [100, 'frame'],
    [500, 'asked'],
    [600, 'frame'],
  ] as const;
  expect(after(...asked, [30_499, 'time'])).toMatchObject({ reading: null, wakeAt: 30_500 });
  expect(after(...asked, [30_500, 'time'])).toEqual({ answer: null, reading: false, wakeAt: null });
  expect(after(...asked, [30_500, 'time'], [40_000, 'asked'])).toMatchObject({ answer: null, reading: true });
});

test('a client hears that there is no frame when the feed says so, or after 20 seconds', () => {
  const answer = { frame: 'late', count: 1 };
  expect(after([0, 'asked'], [2_000, 'silence'])).toEqual({ answer, reading: null, wakeAt: null });
  expect(after([0, 'asked'], [2_000, 'silence'], [2_001, 'asked'])).toMatchObject({ reading: true });
  const late = [
    [0, 'asked'],
    [9_000, 'asked'],
    [20_000, 'time'],
  ] as const;
  expect(after(...late)).toMatchObject({ answer, reading: null, wakeAt: 29_000 });
  expect(after(...late, [29_000, 'time'])).toMatchObject({ answer, reading: null });
});

test('whatever happens, one reader is open while clients wait, no client waits too long, and no feed stays open', () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 12_000 }),
    kind: fc.constantFrom<AskedEvent['kind']>('asked', 'asked', 'frame', 'silence', 'time'),
    madeInMs: fc.integer({ min: 0, max: 3_000 }),
  });
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let [state, now, isReading, wakeAt]: [AskedState, number, boolean, number | null] = [NOT_ASKED, 0, false, null];
    let waiting: number[] = [];
    let askedAt = 0;
    const take = (kind: AskedEvent['kind'], begunAt = now) => {
      if (kind === 'asked') {
        waiting.push(now);
        askedAt = now;
      }
      const [next, effects] = nextAsked(state, eventOf([now, kind, begunAt]), now);
      state = next;
      if (kind === 'silence') isReading = false;
      if (effects.reading !== null) {
        // Opened only when it is not open, left only when it is.
        expect(isReading).toBe(!effects.reading);
        isReading = effects.reading;
      }
      const { answer } = effects;
      const answered = waiting.slice(0, answer?.count ?? 0);
      waiting = waiting.slice(answered.length);
      // A frame answers exactly those clients that asked before its making began.
      if (answer && answer.frame !== 'late') for (const since of answered) expect(since).toBeLessThanOrEqual(begunAt);
      if (kind === 'frame') for (const since of waiting) expect(since).toBeGreaterThan(begunAt);
      wakeAt = effects.wakeAt;
      expect(state.isReading).toBe(isReading);
      if (waiting.length > 0) expect(isReading).toBe(true);
      for (const since of waiting) expect(now - since).toBeLessThan(MAX_WAIT_MS);
    };
    for (const { ms, kind, madeInMs } of steps) {
      const until = now + ms;
      while (wakeAt !== null && wakeAt <= until) {
        now = Math.max(now, wakeAt);
        take('time');
      }
      now = until;
      // Feeds send nothing to those who left.
      if (isReading || kind === 'asked' || kind === 'time') take(kind, now - madeInMs);
      if (isReading && waiting.length === 0) expect(now).toBeLessThan(askedAt + KEEP_MS);
    }
  });
  fc.assert(property, { numRuns: runs(1_000) });
});
