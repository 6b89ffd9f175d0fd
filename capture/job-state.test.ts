import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixed } from './job.ts';
import { MAX_MESSAGES, NEW_JOB, nextRun, type RunResult, staleness } from './job-state.ts';

const pace = { minPauseMs: 50, maxPauseMs: 1_000 };

/** Takes runs one after the other. @returns the effects of each, with the state after it */
function takeRuns(results: readonly RunResult[]) {
  let [state, now] = [NEW_JOB, 0];
  return results.map((result) => {
    now += result.durationMs;
    const taken = nextRun(state, result, pace, now);
    state = taken.state;
    return { ...taken, now };
  });
}

const anyResults = fc.array(
  fc.record({
    durationMs: fc.nat(5_000),
    failure: fc.option(
      fc.nat(15).map((n) => new Error(`failure ${n}`)),
      { freq: 3 },
    ),
  }),
  { maxLength: 60 },
);

test('failures in a row are logged once each, whatever their order, and counted when the job works again', () => {
  const messages = ['no node', 'no answer', 'no node', 'no answer', 'no node', null, 'no node', null];
  const results = messages.map((message) => ({ durationMs: 1, failure: message === null ? null : new Error(message) }));
  const lines = takeRuns(results).flatMap(({ log }) =>
    log ? ['failure' in log ? log.failure.message : log.failures] : [],
  );
  expect(lines).toEqual(['no node', 'no answer', 5, 'no node', 1]);
});

test('whatever fails, what is logged between two good runs names up to ten failures once, and counts all', () => {
  fc.assert(
    fc.property(anyResults, (results) => {
      let [failed, named]: [Error[], Error[]] = [[], []];
      for (const [index, { log }] of takeRuns(results).entries()) {
        const { failure } = results[index] as RunResult;
        if (failure) {
          failed.push(failure);
          if (log && 'failure' in log) named.push(log.failure);
          else expect(log).toBeNull();
          const messages = new Set(failed.map(({ message }) => message));
          expect(named.map(({ message }) => message)).toEqual([...messages].slice(0, MAX_MESSAGES));
        } else {
          expect(log).toEqual(failed.length > 0 ? { failures: failed.length } : null);
          [failed, named] = [[], []];
        }
      }
    }),
  );
});

test.each([
  ['four times as long as a run took', 100, 400],
  ['until runs begin the longest pause apart', 800, 200],
  ['the shortest pause at least', 2_000, 50],
])('a job is idle %s', (_name, durationMs, pauseMs) => {
  const [first, second] = takeRuns([
    { durationMs, failure: null },
    { durationMs, failure: null },
  ]);
  // The first run is slow by itself.
  expect(first?.pauseMs).toBe(50);
  expect(second?.pauseMs).toBe(pauseMs);
});

test('whatever a run takes, its pause is within bounds, and runs begin no more than the longest pause apart', () => {
  fc.assert(
    fc.property(anyResults, (results) => {
      for (const [index, { pauseMs }] of takeRuns(results).entries()) {
        const { durationMs } = results[index] as RunResult;
        expect(pauseMs).toBeGreaterThanOrEqual(pace.minPauseMs);
        expect(pauseMs).toBeLessThanOrEqual(Math.max(pace.minPauseMs, pace.maxPauseMs - durationMs));
      }
    }),
  );
});

test('a job is stale from the start until a good run, and four of its longest pauses after it', () => {
  expect(staleness(NEW_JOB, pace, 1)).toBe('has not succeeded yet');
  fc.assert(
    fc.property(anyResults, (results) => {
      const taken = takeRuns(results);
      const good = taken.findLast((_, index) => results[index]?.failure === null);
      const last = taken.at(-1);
      if (!good || !last) return;
      expect(staleness(last.state, pace, good.now + 4_000)).toBeNull();
      expect(staleness(last.state, pace, good.now + 4_001)).toBe('last succeeded 4 s ago');
    }),
  );
});

test('a job that pauses longer than others is not stale between its runs', () => {
  const trends = fixed(60);
  const { state, pauseMs } = nextRun(NEW_JOB, { durationMs: 500, failure: null }, trends, 0);
  expect(staleness(state, trends, pauseMs + 500)).toBeNull();
});
