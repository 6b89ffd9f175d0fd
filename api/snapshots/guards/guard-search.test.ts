import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compileCreationCode } from '../../../protocol/bounded-calls/creation-code.ts';
import { GUARD_SEARCH_CODE } from './guard-search-code.ts';
import { executableLevels, type SideJob, tradingBins } from './side-job.ts';

/** The compiler takes its time on a busy machine. */
const COMPILER_TIMEOUT_MS = 300_000;

test(
  'the committed code is what the compiler makes of the source',
  () => {
    const source = fileURLToPath(new URL('./GuardSearch.sol', import.meta.url));
    expect(compileCreationCode(source)).toBe(GUARD_SEARCH_CODE);
  },
  COMPILER_TIMEOUT_MS,
);

const level = (bin: number, cumulativeInput: bigint) => ({
  bin,
  cumulativeInput,
  cumulativeOutput: cumulativeInput,
  priceX64: 1n,
  priceImpactE6: 0n,
});

/** Bin 1 holds nothing: its level repeats the one before. */
const levels = [level(0, 100n), level(1, 100n), level(2, 300n)];
const job = { side: { levels }, bins: tradingBins(levels) } as unknown as SideJob;

test('bins without liquidity are no part of a search', () => {
  expect(tradingBins(levels)).toEqual([
    { level: 0, inputAfter: 100n },
    { level: 2, inputAfter: 300n },
  ]);
});

test.each([
  ['whole, when the whole side trades', { low: 2_000_000, high: null, done: true, burned: false }, levels],
  ['closed, when not even its least part does', { low: 0, high: 1, done: true, burned: false }, null],
  [
    'cut at an end of a bin, empty bins included',
    { low: 1_000_000, high: 1_000_001, done: true, burned: false },
    levels.slice(0, 2),
  ],
])('a side is %s', (_name, found, expected) => {
  expect(executableLevels(job, found)).toEqual(expected);
});
