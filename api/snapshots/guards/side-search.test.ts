import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Executable, SideSearch } from './side-search.ts';

type Level = { readonly cumulativeInput: bigint; readonly cumulativeOutput: bigint };

const sideOf = (binInputs: readonly bigint[]): Level[] => {
  let total = 0n;
  return binInputs.map((input) => {
    total += input;
    return { cumulativeInput: total, cumulativeOutput: total };
  });
};

/** Runs a search against a guard that lets amounts up to `limit` trade. */
function searchSide(levels: readonly Level[], limit: bigint, probes: number) {
  const search = new SideSearch(levels);
  let rounds = 0;
  let most = 0;
  while (!search.done && rounds < 100) {
    const questions = search.next(probes);
    most = Math.max(most, questions.length);
    search.report(questions.map(({ amount }) => amount <= limit));
    rounds += 1;
  }
  return { result: search.result(), rounds, most };
}

const binInput = fc.oneof(fc.constant(0n), fc.bigInt(1n, 50n), fc.bigInt(1n, 10n ** 27n));
const side = fc.array(binInput, { minLength: 1, maxLength: 60 }).map(sideOf);

/** Checks a result against the guard's true limit, found by walking the levels rather than by searching. */
function checkCut(levels: readonly Level[], limit: bigint, result: Executable): void {
  const cut = levels.findIndex(({ cumulativeInput }) => cumulativeInput - 1n > limit);
  const before = levels[cut - 1]?.cumulativeInput ?? 0n;
  const after = levels[cut]?.cumulativeInput ?? 0n;
  const precision = (after - before) / 1_000_000n + 2n;
  if (limit === 0n) {
    expect(result.kind).toBe('closed');
  } else if (cut === -1) {
    expect(result.kind).toBe('whole');
  } else if (result.kind === 'cut') {
    const found = result.partialInput ?? levels[result.levels - 1]?.cumulativeInput ?? 0n;
    expect(found - limit).toBeLessThanOrEqual(1n);
    expect(limit - found).toBeLessThanOrEqual(precision);
    if (result.partialInput !== null) expect(result.levels).toBe(cut);
  } else {
    expect(result.kind).toBe('closed');
    expect(limit).toBeLessThanOrEqual(precision);
  }
}

test('the cut is found within a millionth of its bin, and never beyond what trades', () => {
  fc.assert(
    fc.property(side, fc.bigInt(0n, 10n ** 28n), fc.integer({ min: 2, max: 64 }), (levels, limit, probes) => {
      checkCut(levels, limit, searchSide(levels, limit, probes).result);
    }),
    { numRuns: 500 },
  );
});

test('rounds are few: each asks at most what it was allowed', () => {
  fc.assert(
    fc.property(side, fc.bigInt(1n, 10n ** 27n), fc.integer({ min: 4, max: 64 }), (levels, limit, probes) => {
      const { rounds, most } = searchSide(levels, limit, probes);
      expect(most).toBeLessThanOrEqual(Math.max(2, probes));
      expect(rounds).toBeLessThanOrEqual(2 + Math.ceil(Math.log(60e6) / Math.log(probes + 1)));
    }),
  );
});

test.each([
  ['a guard that refuses nothing', 10n ** 30n, { kind: 'whole' }],
  ['a guard that refuses everything', 0n, { kind: 'closed' }],
])('one round is enough for %s', (_name, limit, expected) => {
  const { result, rounds } = searchSide(sideOf(Array(60).fill(10n ** 18n)), limit, 16);
  expect(result).toEqual(expected);
  expect(rounds).toBe(1);
});

test('a side without liquidity is asked about one unit', () => {
  const empty = sideOf([0n, 0n, 0n]);
  expect(searchSide(empty, 1n, 8).result).toEqual({ kind: 'whole' });
  expect(searchSide(empty, 0n, 8).result).toEqual({ kind: 'closed' });
  expect(searchSide([], 0n, 8).result).toEqual({ kind: 'closed' });
});

test('a cut at an edge leaves no partial level', () => {
  const levels = sideOf([10n ** 18n, 0n, 10n ** 18n, 10n ** 18n]);
  expect(searchSide(levels, 2n * 10n ** 18n - 1n, 8).result).toEqual({ kind: 'cut', levels: 3, partialInput: null });
});
