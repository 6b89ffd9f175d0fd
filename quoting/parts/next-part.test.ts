import fc from 'fast-check';
import type { Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { isSameView } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import { LAG_BLOCKS } from './next-lag.ts';
import { AHEAD_MS, nextPart, noPart, type PartOutcome, type PartShown, type PartState, withFees } from './next-part.ts';

const hashOf = (number: bigint, branch = 0): Hex =>
  `0x${(number * 16n + BigInt(branch)).toString(16).padStart(64, '0')}`;
const headAt = (number: bigint, branch = 0) => ({
  number,
  hash: hashOf(number, branch),
  timestamp: 1_000n + 2n * number,
});

/** What an honest node shows of a block on its parent, after fees of so much. */
const viewOf = (blockNumber: bigint, feesWei: bigint, branch = 0): PartView => ({
  blockNumber,
  timestamp: 1_000n + 2n * blockNumber,
  parentHash: hashOf(blockNumber - 1n, branch),
  feesWei,
});

/** Outcomes of what was shown, each at its time. */
function outcomesOf(shown: readonly (PartShown & { readonly at?: number })[]): readonly PartOutcome[] {
  let state: PartState = noPart;
  return shown.map(({ at = 0, ...each }) => {
    const [next, outcome] = nextPart(state, each, at);
    state = next;
    return outcome;
  });
}

const show = (view: PartView, head: PartShown['head'] = headAt(9n), at = 0) => ({ view, head, index: null, at });

test('parts of the block after the head are used, one after the other', () => {
  expect(outcomesOf([show(viewOf(10n, 5n)), show(viewOf(10n, 5n)), show(viewOf(10n, 7n))])).toEqual([
    'used',
    'used',
    'used',
  ]);
});

describe('what is not believed', () => {
  test.each<[PartOutcome, PartView, PartShown['head']?]>([
    ['committed', viewOf(9n, 5n)],
    ['behind', viewOf(5n, 5n)],
    ['behind', viewOf(2n, 5n), headAt(402n)],
    ['ahead', viewOf(12n, 5n)],
    ['time', { ...viewOf(10n, 5n), timestamp: headAt(9n).timestamp }],
    ['parent', viewOf(10n, 5n, 1)],
  ])('%s', (outcome, view, head = headAt(9n)) => {
    expect(outcomesOf([show(view, head)])).toEqual([outcome]);
  });

  test('a part without a known head', () => {
    expect(outcomesOf([{ view: viewOf(10n, 5n), index: null, head: undefined }])).toEqual(['headless']);
  });

  test('an earlier part of the block', () => {
    expect(outcomesOf([show(viewOf(10n, 7n)), show(viewOf(10n, 5n))])).toEqual(['used', 'older']);
  });

  test('another time of the same block', () => {
    const later = { ...viewOf(10n, 8n), timestamp: 5_000n };
    expect(outcomesOf([show(viewOf(10n, 7n)), show(later)])).toEqual(['used', 'time']);
  });

  test('a lower block than was used', () => {
    expect(outcomesOf([show(viewOf(11n, 7n)), show(viewOf(10n, 9n))])).toEqual(['used', 'older']);
  });
});

test('a lower sum of fees is refused however often it is shown, until the next block has no more', () => {
  let state: PartState = noPart;
  const judge = (view: PartView, head: PartShown['head'], now: number) => {
    const [next, outcome] = nextPart(state, { view, index: null, head }, now);
    state = next;
    return outcome;
  };
  expect(judge(viewOf(10n, 7n), headAt(9n), 0)).toBe('used');
  for (let part = 1; part < 10; part += 1) expect(judge(viewOf(10n, 3n), headAt(9n), 200 * part)).toBe('older');
  expect(judge(viewOf(11n, 3n), headAt(10n), 2_000)).toBe('lagging');
  state = withFees(state, { ...headAt(10n), feesWei: 3n });
  expect(judge(viewOf(11n, 3n), headAt(10n), 2_050)).toBe('used');
});

test('a block after parts of a block below is refused with fewer fees, and after it as well', () => {
  const stuck = [11n, 12n, 13n].map((number) => show(viewOf(number, 100n), headAt(number - 1n)));
  expect(outcomesOf([show(viewOf(10n, 500n)), show(viewOf(10n, 1_000n)), ...stuck])).toEqual([
    'used',
    'used',
    'lagging',
    'lagging',
    'lagging',
  ]);
});

test('a part may come before its parent block, for a moment', () => {
  const early = viewOf(11n, 1n);
  const outcomes = outcomesOf([
    show(early, headAt(9n), 0),
    show(early, headAt(9n), AHEAD_MS),
    show(early, headAt(9n), AHEAD_MS + 1),
  ]);
  expect(outcomes).toEqual(['used', 'used', 'ahead']);
  expect(outcomesOf([show(early, headAt(9n), 0), show(early, headAt(10n), 60)])).toEqual(['used', 'used']);
});

test('a block before whose parent a part comes may do so after an earlier one did', () => {
  const early = show(viewOf(11n, 1n), headAt(9n), 0);
  // Nobody asked while the parent of the first one was the head.
  const later = show(viewOf(20n, 1n), headAt(18n), 60_000);
  const stuck = show(viewOf(20n, 2n), headAt(18n), 60_000 + AHEAD_MS + 1);
  expect(outcomesOf([early, later, stuck])).toEqual(['used', 'used', 'ahead']);
});

test('a block is early no longer because earlier parts are shown beside it', () => {
  const early = (at: number) => show(viewOf(11n, 1n), headAt(9n), at);
  expect(outcomesOf([early(0), show(viewOf(10n, 9n), headAt(9n), 500), early(AHEAD_MS + 1)])).toEqual([
    'used',
    'older',
    'ahead',
  ]);
});

test('a node that gives no hash of the parent is judged by number and time', () => {
  const view = { ...viewOf(10n, 5n), parentHash: null };
  expect(outcomesOf([show(view), show({ ...view, feesWei: 4n })])).toEqual(['used', 'older']);
});

test('after a reorganisation parts on the new head are used', () => {
  const [back, lower] = [show(viewOf(10n, 2n, 1), headAt(9n, 1)), show(viewOf(7n, 2n, 1), headAt(6n, 1))];
  expect(outcomesOf([show(viewOf(10n, 7n)), back, lower])).toEqual(['used', 'used', 'used']);
});

test('the index is kept while the part is shown again with another one, or without', () => {
  const [first] = nextPart(noPart, { ...show(viewOf(10n, 5n)), index: 3 }, 1);
  const [same] = nextPart(first, { ...show(viewOf(10n, 5n)), index: 4 }, 2);
  const [again] = nextPart(same, show(viewOf(10n, 5n)), 2);
  expect(again.used).toMatchObject({ index: 3, shownAt: 2 });
  expect(nextPart(again, show(viewOf(10n, 6n)), 3)[0].used).toMatchObject({ index: null, shownAt: 3 });
});

/** Parts that a node shows: honest ones, and each lie about one of what they consist of. */
const shownParts = fc.array(
  fc.record({
    number: fc.bigInt({ min: 5n, max: 14n }),
    fees: fc.bigInt({ min: 0n, max: 5n }),
    branch: fc.integer({ min: 0, max: 1 }),
    secs: fc.bigInt({ min: -3n, max: 3n }),
    hasParent: fc.boolean(),
    index: fc.option(fc.nat(9)),
    head: fc.option(fc.record({ number: fc.bigInt({ min: 7n, max: 12n }), branch: fc.integer({ min: 0, max: 1 }) })),
    parentFees: fc.option(fc.bigInt({ min: 0n, max: 5n })),
    afterMs: fc.integer({ min: 0, max: 800 }),
  }),
  { maxLength: 40 },
);

test('property: invariants hold whatever nodes show', () => {
  fc.assert(
    fc.property(shownParts, (all) => {
      let [state, now]: [PartState, number] = [noPart, 0];
      let [early, since] = [0n, 0];
      for (const { number, fees, branch, secs, hasParent, index, head: at, parentFees, afterMs } of all) {
        now += afterMs;
        const honest = viewOf(number, fees, branch);
        const view = {
          ...honest,
          timestamp: honest.timestamp + secs,
          parentHash: hasParent ? honest.parentHash : null,
        };
        const head = at ? headAt(at.number, at.branch) : undefined;
        if (at && number === at.number + 2n && number !== early) [early, since] = [number, now];
        if (at && number === at.number + 1n && number === early) early = 0n;
        if (head && parentFees !== null) state = withFees(state, { ...head, feesWei: parentFees });
        const known = head && state.lag.sealed.find(({ hash }) => hash === head.hash)?.feesWei;
        const [next, outcome] = nextPart(state, { view, head, index }, now);
        if (outcome !== 'used') expect(next.used).toBe(state.used);
        else {
          if (!head) throw new Error('a part was used without a head');
          const ahead = view.blockNumber - head.number;
          expect(ahead === 1n || ahead === 2n).toBe(true);
          expect(view.timestamp).toBeGreaterThan(head.timestamp);
          if (ahead === 1n && view.parentHash) expect(view.parentHash).toBe(head.hash);
          if (ahead === 2n) expect(now - since).toBeLessThanOrEqual(AHEAD_MS);
          const last = state.used?.view;
          const least =
            ahead === 1n && known !== undefined ? known : last && number > last.blockNumber ? last.feesWei : 0n;
          expect(view.feesWei).toBeGreaterThanOrEqual(least);
          if (state.lag.blocks === LAG_BLOCKS)
            expect([ahead === 1n, view.feesWei > (known ?? 5n)]).toEqual([true, true]);
          if (last && last.blockNumber <= head.number + 2n) {
            expect(view.blockNumber).toBeGreaterThanOrEqual(last.blockNumber);
            const isOne =
              last.blockNumber === view.blockNumber &&
              (last.parentHash === view.parentHash || !last.parentHash || !view.parentHash);
            if (isOne) {
              expect(view.timestamp).toBe(last.timestamp);
              expect(view.feesWei).toBeGreaterThanOrEqual(last.feesWei);
            }
          }
          const before = last && isSameView(last, view) ? state.used?.index : null;
          expect(next.used).toMatchObject({ shownAt: now, index: before ?? index });
        }
        state = next;
      }
    }),
  );
});
