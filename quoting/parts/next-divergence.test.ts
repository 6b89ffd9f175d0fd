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
  expect(verdicts(blocks([...often, '1'])).at(-1)).toBe(false);
  expect(verdicts(blocks([...often, '12', '12'])).at(-1)).toBe(true);
});

test('two of a hundred pools that always differ are too many', () => {
  expect(verdicts(blocks(['01', '01'], 100))).toEqual([true, true]);
});

test('neither one pool that differs at random nor another one once keeps parts out', () => {
  const differing = blocks(['01', '01']);
  const agreeing = Array.from({ length: 31 }, (_, index) => (index % 3 === 0 ? '0' : index === 19 ? '1' : ''));
  expect(verdicts([...differing, ...blocks(agreeing, 10, 2)]).lastIndexOf(true)).toBe(30);
});

test('two pools that go on to differ keep parts out', () => {
  const all = blocks(Array.from({ length: 90 }, (_, index) => (index % 4 === 0 ? '01' : '')));
  expect(verdicts(all).indexOf(false, 2)).toBe(-1);
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

const PLACES = [0, 1, 2];
const isFirst = (pool: Address) => pool === poolOf(0);

interface RandomBlock extends Pick<ComparedPools, 'compared' | 'different'> {
  /** Whether it is another block than the one before. */
  readonly isNext: boolean;
  readonly afterMs: number;
}

const randomBlocks: fc.Arbitrary<RandomBlock[]> = fc.array(
  fc.record({
    isNext: fc.boolean(),
    compared: fc.integer({ min: 1, max: 150 }),
    different: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      fc.uniqueArray(fc.constantFrom(...PLACES).map(poolOf), { minLength: 1 }),
    ),
    afterMs: fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: WINDOW_MS })),
  }),
  { maxLength: 60 },
);

/** Something that was compared, and when. */
type Past = Pick<ComparedPools, 'compared' | 'different'> & { readonly at: number; readonly startedAt: number };

/** Whether more than 1% differ, whichever pool is left out: none, or one of those that are here. */
const doDiffer = (past: readonly Past[]): boolean =>
  [undefined, ...PLACES.map(poolOf)].every((left) => {
    const different = past.flatMap((each) => each.different);
    const others = different.filter((pool) => pool !== left).length;
    return others / (comparedIn(past) - (different.length - others)) > 0.01;
  });

const comparedIn = (past: readonly Past[]) => past.reduce((sum, { compared }) => sum + compared, 0);

/** Calls the listener with each verdict, and the one before. */
function playBlocks(
  all: readonly RandomBlock[],
  from: DivergenceState,
  listener: (next: DivergenceState, before: DivergenceState, past: Past[], now: number) => void,
): void {
  let [state, now, blockNumber] = [from, 0, 1n];
  const past: Past[] = [];
  for (const { compared, afterMs, ...each } of all) {
    const different = each.different.slice(0, compared);
    now += afterMs;
    // Pools of one block are compared within moments.
    const isNext = each.isNext || afterMs > 4_000;
    if (isNext) blockNumber += 1n;
    const startedAt = isNext ? now : (past.at(-1)?.startedAt ?? now);
    past.push({ at: now, startedAt, compared, different });
    const next = nextDivergence(state, { blockNumber, compared, different }, now);
    listener(next, state, past, now);
    state = next;
  }
}

test('property: invariants hold whatever is compared', () => {
  fc.assert(
    fc.property(randomBlocks, (all) => {
      // When parts last became divergent, or differed while they were.
      let since = 0;
      playBlocks(all, noDivergence, (next, { isDivergent }, past, now) => {
        const recent = past.filter(({ startedAt }) => isDivergent || now - startedAt <= WINDOW_MS);
        const [isEnough, isTooMany] = [comparedIn(recent) >= MIN_COMPARED, doDiffer(recent)];
        const isOver = isEnough && !isTooMany && now - since >= AGREED_MS;
        expect(next.isDivergent).toBe(isDivergent ? !isOver : isEnough && isTooMany);
        if (isDivergent ? !isTooMany && !isOver : !next.isDivergent) return;
        past.length = 0;
        since = now;
      });
    }),
  );
});

test('property: what one pool is in blocks neither keeps parts out nor brings them back', () => {
  const ofOne = randomBlocks.map((all) => all.map((each) => ({ ...each, different: each.different.filter(isFirst) })));
  fc.assert(
    fc.property(ofOne, fc.boolean(), (all, isDivergent) => {
      const begun = { ...noDivergence, isDivergent, since: 0 };
      playBlocks(all, begun, (next, before, past, now) => {
        const isOver = now >= AGREED_MS && comparedIn(past) >= MIN_COMPARED;
        expect(next.isDivergent).toBe(before.isDivergent && !isOver);
      });
    }),
  );
});
