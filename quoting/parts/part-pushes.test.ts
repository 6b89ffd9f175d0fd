import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PartView } from '../../chain/pending-state.ts';
import { isUsedState, noPushes, type Pushes, withCall, withPush } from './part-pushes.ts';

const viewOf = (feesWei: bigint): PartView => ({ blockNumber: 10n, timestamp: 1_020n, parentHash: null, feesWei });

const anyEvent = fc.oneof(
  fc.record({ kind: fc.constant('part' as const), isUnchanged: fc.boolean() }),
  fc.record({ kind: fc.constant('begin' as const) }),
  // A node that is behind shows once more what is used.
  fc.record({ kind: fc.constant('end' as const), isBehind: fc.boolean() }),
  // A call of a pool comes to the newest part before it is pushed.
  fc.record({ kind: fc.constant('met' as const) }),
);

test('property: a part costs no call only if all that happened before it is used', () => {
  let known = 0;
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
      let pushes = noPushes;
      let begun: Pushes | undefined;
      let [fees, used] = [1n, viewOf(1n)];
      for (const event of events) {
        if (event.kind === 'part') {
          if (!event.isUnchanged) fees += 1n;
          const last = { blockNumber: 10n, index: null, isUnchanged: event.isUnchanged };
          pushes = withPush(pushes, last, { view: used, index: null, shownAt: 0 });
          if (!isUsedState(pushes, { view: used, index: null, shownAt: 0 })) continue;
          known += 1;
          expect(used.feesWei).toBe(fees);
        } else if (event.kind === 'begin') begun ??= pushes;
        else if (event.kind === 'met') used = viewOf(fees);
        else if (begun) {
          if (!event.isBehind) used = viewOf(fees);
          pushes = withCall(pushes, begun, used, null);
          begun = undefined;
        }
      }
    }),
  );
  expect(known).toBeGreaterThan(0);
});

test('a part of another block costs a call', () => {
  const used = { view: viewOf(5n), index: 1, shownAt: 0 };
  const pushes = withCall(
    withPush(noPushes, undefined, undefined),
    withPush(noPushes, undefined, undefined),
    used.view,
    1,
  );
  const next = (blockNumber: bigint) => withPush(pushes, { blockNumber, index: 2, isUnchanged: true }, used);
  expect([isUsedState(next(10n), used), isUsedState(next(11n), used)]).toEqual([true, false]);
});
