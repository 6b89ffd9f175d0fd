import { expect, test } from 'vitest';
import { describeRun, describeRuns, didFail, type Run } from './report.ts';

const file = (path: string, ms: number) => ({ path, ms, cpuMs: 0 });
const calm: Run = {
  seed: 7,
  loaded: false,
  ms: 1_400,
  counts: { passed: 3, failed: 0, skipped: 1 },
  files: [file('a.test.ts', 1_000), file('b.test.ts', 200)],
  failures: [],
};
const failure = { path: 'b.test.ts', test: 'waits', message: 'late\nby a second' };
const loaded: Run = {
  ...calm,
  seed: 8,
  loaded: true,
  ms: 2_600,
  counts: { ...calm.counts, failed: 1 },
  files: [file('a.test.ts', 2_000), file('b.test.ts', 800)],
  failures: [failure],
};

test('a run is one line', () => {
  expect(describeRun(calm, 1)).toBe('run 1, seed 7, calm: 3 passed, 0 failed, 1 s');
  expect(describeRun(loaded, 2)).toBe('run 2, seed 8, beside load: 3 passed, 1 failed, 3 s');
});

test('a run failed by what belongs to no test, too', () => {
  expect([calm, loaded, { ...calm, failures: [failure] }].map(didFail)).toEqual([false, true, true]);
});

test('what failed in any run is named once with its seeds, then the files with their share', () => {
  const again = { ...loaded, seed: 9, loaded: false, failures: [{ ...failure, message: 'otherwise' }] };
  expect(describeRuns([calm, loaded, again]).split('\n')).toEqual([
    '2 of 3 runs failed',
    'b.test.ts: waits: 2 of 3 runs, seed 8 (beside load), 9 (calm)',
    '    late',
    '    by a second',
    '    Repeat: PROPERTY_SEED=8 FILE_ORDER=8 npx vitest run b.test.ts',
    'Slowest files, and their share of the time of all:',
    '   1.7 s  73.5%  a.test.ts',
    '   0.6 s  26.5%  b.test.ts',
  ]);
  expect(describeRuns([])).toBe('0 of 0 runs failed');
});
