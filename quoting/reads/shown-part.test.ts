import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtLeast, isSameView, OtherPart } from '../../chain/part-view.ts';
import { pendingPart } from '../../chain/pending-part.ts';
import { type PartView, stateOf } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { PoolGas } from './pool-gas.ts';
import { ShownPart } from './shown-part.ts';

const committed = { number: 9n, hash: '0x09', timestamp: 1_018n } as const;
const VIEW: PartView = { blockNumber: 10n, timestamp: 1_020n, parentHash: '0x09', feesWei: 5n };
const headAt = (view: PartView) => ({
  ...committed,
  pending: pendingPart({ view, index: 3, multicall3: '0xca11bde05977b3631167028862be2a173976ca11' }, 70),
});
const shows = (part: ShownPart, view: PartView) => part.block.pending?.part?.takes?.(view);

test('calls that all show a later part of the block are of that one', () => {
  const head = headAt(VIEW);
  const part = new ShownPart(head);
  expect(part.shown).toBe(head);
  const later = { ...VIEW, feesWei: 8n };
  expect([shows(part, later), shows(part, { ...later })]).toEqual([true, true]);
  expect(part.shown).toEqual({
    ...headAt(later),
    pending: { ...headAt(later).pending, part: { ...headAt(later).pending.part, index: null } },
  });
  expect([shows(part, VIEW), shows(part, { ...VIEW, feesWei: 9n })]).toEqual([false, false]);
});

test('calls of the part of the head leave it as it is', () => {
  const head = headAt(VIEW);
  const part = new ShownPart(head);
  expect(shows(part, { ...VIEW, parentHash: null })).toBe(true);
  expect(part.shown).toBe(head);
});

test('without a part nothing changes', () => {
  const part = new ShownPart(committed);
  expect([part.block, part.shown]).toEqual([committed, committed]);
});

test('what a call showed of a pool with a part is not taken for another part', async () => {
  const [pool, later] = [flatPool(11), { ...VIEW, feesWei: 8n }];
  const shownAt = new Map([VIEW, { ...VIEW, feesWei: 9n }].map((view) => [stateOf(headAt(view)), { others: [] }]));
  const find = (block: BlockRef) => shownAt.get(stateOf(block));
  const gas = new PoolGas(() => 0);
  const open = () => new ShownPart(headAt(VIEW), { others: find, othersSoon: async (block) => find(block), gas });
  const part = open();
  expect([undefined, [pool.address]].map((watched) => part.othersAtHead(pool, watched))).toEqual([
    { others: [] },
    undefined,
  ]);
  expect(await part.others(pool)).toEqual({ others: [] });
  shows(part, later);
  await expect(part.others(pool)).rejects.toMatchObject({ constructor: OtherPart, view: later });
  const newest = open();
  shows(newest, { ...VIEW, feesWei: 9n });
  expect(await newest.others(pool)).toEqual({ others: [] });
});

const anyView = fc.record({
  blockNumber: fc.constantFrom(9n, 10n, 10n, 10n, 11n),
  timestamp: fc.constantFrom(1_020n, 1_020n, 1_020n, 1_022n),
  parentHash: fc.constantFrom('0x09', '0x09', '0x08', null),
  feesWei: fc.bigInt(3n, 8n),
}) as fc.Arbitrary<PartView>;

test('what is taken is one part, of the block of the head and not before it, whatever calls show', () => {
  fc.assert(
    fc.property(fc.array(anyView, { minLength: 1, maxLength: 8 }), (views) => {
      const part = new ShownPart(headAt(VIEW));
      const taken = views.filter((view) => shows(part, view));
      for (const view of taken) {
        expect(isAtLeast(view, VIEW)).toBe(true);
        expect(isSameView(view, part.shown.pending?.part?.view ?? VIEW)).toBe(true);
      }
      // The first one that may be taken is.
      expect(taken.length > 0).toBe(views.some((view) => isAtLeast(view, VIEW)));
    }),
    { numRuns: runs(300) },
  );
});
