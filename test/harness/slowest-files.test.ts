import { expect, test } from 'vitest';
import { formatSlowest } from './slowest-files.ts';

const files = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    path: `${index}.test.ts`,
    ms: 1_000 * ((index * 7) % count) + 49,
    cpuMs: 100 * index,
  }));

test('the ten slowest files are named, slowest first', () => {
  const lines = formatSlowest([...files(11), { path: 'a/long.test.ts', ms: 123_456, cpuMs: 7_100 }]).split('\n');
  expect(lines).toEqual([
    'Slowest files, of 13 s of CPU time in all:',
    ' 123.5 s,   7.1 s of CPU time  a/long.test.ts',
    '  10.0 s,   0.3 s of CPU time  3.test.ts',
    '   9.0 s,   0.6 s of CPU time  6.test.ts',
    '   8.0 s,   0.9 s of CPU time  9.test.ts',
    '   7.0 s,   0.1 s of CPU time  1.test.ts',
    '   6.0 s,   0.4 s of CPU time  4.test.ts',
    '   5.0 s,   0.7 s of CPU time  7.test.ts',
    '   4.0 s,   1.0 s of CPU time  10.test.ts',
    '   3.0 s,   0.2 s of CPU time  2.test.ts',
    '   2.0 s,   0.5 s of CPU time  5.test.ts',
    '',
  ]);
});

test('a run of ten files names none', () => {
  expect(formatSlowest(files(10))).toBe('');
});
