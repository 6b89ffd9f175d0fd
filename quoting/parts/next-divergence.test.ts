import fc from 'fast-check';
import { type Address, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import {
  AGREED_MS,
  type ComparedPools,
  type DivergenceState,
  MIN_COMPARED,
  nextDivergence,
  noDivergence,
  WINDOW_MS,
} from './next-divergence.ts';

type Timed = ComparedPools & { readonly at: number };

const poolOf = (index: number): Address => numberToHex(index + 1, { size: 20 });

/** One block each 2 s, with the pools that differ, of so many: digits name them. */
const blocks = (different: readonly string[], compared = 10, from = 0): Timed[] =>
  different.map((each, index) => {
    const number = from + index;
    const pools = [...each].map((digit) => poolOf(Number(digit)));
    return { blockNumber: BigInt(number), compared, different: pools, at: number * 2_000 };
  });

/** Whether parts are divergent after each block. */
function verdicts(all: readonly Timed[], from: DivergenceState = noDivergence): boolean[] {
  let state = from;
  return all.map(({ at, ...pools }) => {
    state = nextDivergence(state, pools, at);
    return state.isDivergent;
  });
}

test('parts that differ are noticed once enough pools were compared', () => {
  expect(verdicts(blocks(['0123456789', '0123456789', '0123456789']))).toEqual([false, true, true]);
  expect(verdicts(blocks(['', '0', '', '1', '']))).toEqual([false, false, false, true, true]);
});

test('one in a hundred is not too many', () => {
  expect(verdicts(blocks(['0', '1'], 100))).toEqual([false, false]);
  expect(verdicts(blocks(['0', '12'], 100))).toEqual([false, true]);
});

test('one pool decides nothing, however often it differs', () => {
  const often = Array<string>(40).fill('0');
  expect(verdicts(blocks(often))).toEqual(often.map(() => false));
  expect(verdicts(blocks([...often, '1'])).at(-1)).toBe(true);
});

test('what differed long ago does not count', () => {
  const [first, ...rest] = blocks(['0', '', '1']);
  const later = rest.map((each) => ({ ...each, at: each.at + WINDOW_MS }));
  expect(verdicts([...(first ? [first] : []), ...later])).toEqual([false, false, false]);
});

test('parts are used again a minute after the last pool that differed', () => {
  const differing = blocks(['01', '01']);
  const agreeing = blocks(Array<string>(31).fill(''), 10, 2);
  expect(verdicts([...differing, ...agreeing]).lastIndexOf(true)).toBe(30);
  const [slow] = blocks([''], 10, 100);
  expect(verdicts([...differing, ...(slow ? [slow, slow] : [])])).toEqual([false, true, true, false]);
});

test('pools of one block count together', () => {
  const all = Array.from({ length: MIN_COMPARED }, (_, index) => blocks([String(index % 10)], 1)).flat();
  expect(verdicts(all).indexOf(true)).toBe(MIN_COMPARED - 1);
});

const randomBlocks = fc.array(
  fc.record({
    isNext: fc.boolean(),
    compared: fc.integer({ min: 1, max: 150 }),
    different: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      fc.uniqueArray(fc.nat(2).map(poolOf), { minLength: 1, maxLength: 3 }),
    ),
    afterMs: fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: WINDOW_MS })),
  }),
  { maxLength: 60 },
);

test('property: invariants hold whatever is compared', () => {
  fc.assert(
    fc.property(randomBlocks, (all) => {
      let [state, now, blockNumber] = [noDivergence, 0, 1n];
      // All that counts, compared by one sum over the whole past.
      let past: { at: number; startedAt: number; compared: number; different: readonly Address[] }[] = [];
      for (const { compared, afterMs, ...each } of all) {
        const different = each.different.slice(0, compared);
        now += afterMs;
        // Pools of one block are compared within moments.
        const isNext = each.isNext || afterMs > 4_000;
        if (isNext) blockNumber += 1n;
        const startedAt = isNext ? now : (past.at(-1)?.startedAt ?? now);
        past.push({ at: now, startedAt, compared, different });
        const next = nextDivergence(state, { blockNumber, compared, different }, now);
        const lastDifferent = past.findLastIndex((one) => one.different.length > 0);
        const agreed = past.slice(lastDifferent + 1).reduce((sum, one) => sum + one.compared, 0);
        const recent = past.filter((one) => now - one.startedAt <= WINDOW_MS);
        const ofAll = recent.reduce((sum, one) => sum + one.compared, 0);
        const wrong = recent.flatMap((one) => one.different);
        const isOfSome = wrong.some((pool) => pool !== wrong[0]);
        const isTooMany = ofAll >= MIN_COMPARED && isOfSome && wrong.length / ofAll > 0.01;
        const isOver = now - (past[lastDifferent]?.at ?? now) >= AGREED_MS && agreed >= MIN_COMPARED;
        expect(next.isDivergent).toBe(state.isDivergent ? !isOver : isTooMany);
        if (state.isDivergent && isOver) past = [];
        state = next;
      }
    }),
  );
});
