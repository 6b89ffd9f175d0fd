import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PartView } from '../../chain/pending-state.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { isUsedState, noPushes, type Pushes, withCall, withPush } from './part-pushes.ts';

const viewOf = (feesWei: bigint): PartView => ({ blockNumber: 10n, timestamp: 1_020n, parentHash: null, feesWei });

const anyEvent = fc.oneof(
  fc.record({ kind: fc.constant('part' as const), isUnchanged: fc.boolean() }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('quiet' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('begin' as const) }) },
  // A node shows a part of the last three, or the one that comes after.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), behind: fc.integer({ min: -1, max: 3 }) }) },
  // A call of a pool comes to the newest part before it is pushed.
  fc.record({ kind: fc.constant('met' as const) }),
);

test('property: a part costs no call only if all that happened before it is used', () => {
  let known = 0;
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
      let pushes = noPushes;
      let begun: { readonly pushes: Pushes; readonly part: number } | undefined;
      // Fees after each part that was pushed, and after the next one.
      const fees = [1n, 2n];
      let used = viewOf(1n);
      const use = (part: number) => {
        const shown = fees[Math.max(0, part)] as bigint;
        if (shown > used.feesWei) used = viewOf(shown);
      };
      for (const event of events) {
        if (event.kind === 'part' || event.kind === 'quiet') {
          const [before = 0n, next = 0n] = fees.slice(-2);
          // What was seen of the part shows that something happens in it.
          const isUnchanged = (event.kind === 'quiet' || event.isUnchanged) && used.feesWei < next;
          if (isUnchanged) fees.splice(-1, 1, before);
          fees.push((fees.at(-1) as bigint) + 1n);
          pushes = withPush(pushes, { blockNumber: 10n, index: null, isUnchanged });
          if (!isUsedState(pushes, { view: used, index: null, shownAt: 0 })) continue;
          known += 1;
          expect(used.feesWei).toBe(fees.at(-2));
        } else if (event.kind === 'begin') begun ??= { pushes, part: fees.length - 2 };
        else if (event.kind === 'met') use(fees.length - 1);
        else if (begun) {
          use(begun.part - event.behind);
          pushes = withCall(pushes, begun.pushes, null);
          begun = undefined;
        }
      }
    }),
    { numRuns: runs(1_000) },
  );
  expect(known).toBeGreaterThan(0);
});

test('a part of another block costs a call', () => {
  const used = { view: viewOf(5n), index: 4, shownAt: 0 };
  const unchanged = (blockNumber: bigint) => ({ blockNumber, index: 5, isUnchanged: true });
  let pushes = withPush(noPushes, undefined);
  for (let parts = 0; parts < 3; parts += 1) pushes = withPush(pushes, unchanged(10n));
  pushes = withCall(pushes, pushes, 4);
  const next = (blockNumber: bigint) => withPush(pushes, unchanged(blockNumber));
  expect([isUsedState(next(10n), used), isUsedState(next(11n), used)]).toEqual([true, false]);
});
