import { expect, test } from 'vitest';
import { windowEnd } from './window.ts';

const blocks = (...timestamps: number[]) =>
  timestamps.map((timestamp, index) => ({ chainId: index + 1, number: 10 * index, timestamp }));

test.each([
  ['one chain is as far as it is', [1_000], 1_000],
  ['chains wait for each other', [1_000, 990, 995], 990],
  ['for a minute', [1_000, 940], 940],
  ['and no longer', [1_000, 939, 970], 970],
  ['nothing is indexed', [], null],
])('%s', (_case, timestamps, end) => {
  expect(windowEnd(blocks(...timestamps))).toBe(end);
});

test.each([
  ['does not go back by a minute', 1_060, 1_060],
  ['goes back by more', 1_061, 1_000],
  ['advances', 999, 1_000],
])('the window %s', (_case, last, end) => {
  expect(windowEnd(blocks(1_000), last)).toBe(end);
});
