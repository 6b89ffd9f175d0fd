import { expect, test } from 'vitest';
import { formatSlowest } from './slowest-files.ts';

const files = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `${index}.test.ts`, ms: 1_000 * ((index * 7) % count) + 49 }));

test('the ten slowest files are named, slowest first', () => {
  const lines = formatSlowest([...files(11), { path: 'a/long.test.ts', ms: 123_456 }]).split('\n');
  expect(lines).toEqual([
    'Slowest files:',
    ' 123.5 s  a/long.test.ts',
    '  10.0 s  3.test.ts',
    '   9.0 s  6.test.ts',
    '   8.0 s  9.test.ts',
    '   7.0 s  1.test.ts',
    '   6.0 s  4.test.ts',
    '   5.0 s  7.test.ts',
    '   4.0 s  10.test.ts',
    '   3.0 s  2.test.ts',
    '   2.0 s  5.test.ts',
    '',
  ]);
});

test('a run of ten files names none', () => {
  expect(formatSlowest(files(10))).toBe('');
});
