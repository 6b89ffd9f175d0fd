import { expect, test } from 'vitest';
import { retryAfterMs } from './http-request.ts';

test.each([
  ['120', 120_000],
  ['0', 0],
  ['1.5', 1_500],
  [new Date(1_800_000_010_000).toUTCString(), 10_000],
  [new Date(1_700_000_000_000).toUTCString(), undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
])('Retry-After: %j is a wait of %j ms', (header, expected) => {
  expect(retryAfterMs({ 'retry-after': header }, 1_800_000_000_000)).toBe(expected);
});
