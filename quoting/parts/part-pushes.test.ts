import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PartView } from '../../chain/pending-state.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { isUsedState, noPushes, type Pushes, withCall, withPush } from './part-pushes.ts';

const viewOf = (feesWei: bigint): PartView => ({ blockNumber: 10n, timestamp: 1_020n, parentHash: null, feesWei });

const anyEvents = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constant('part' as const), isUnchanged: fc.boolean() }),
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('quiet' as const), parts: fc.integer({ min: 1, max: 4 }) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('begin' as const) }) },
      // A node shows a part of the last three, or the one that comes after.
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('end' as const), behind: fc.integer({ min: -1, max: 3 }) }),
      },
      // A call of a pool comes to the newest part before it is pushed.
      fc.record({ kind: fc.constant('met' as const) }),
    ),
    { minLength: 20, maxLength: 60 },
  )
  .map((events) =>
    events.flatMap((event) => Array.from({ length: event.kind === 'quiet' ? event.parts : 1 }, () => event)),
  );

test('property: a part costs no call only if all that happened before it is used', () => {
  let known = 0;
  fc.assert(
    fc.property(anyEvents, fc.subarray(['b', 'c']), (events, others) => {
      const sockets = ['a', ...others];
      let pushes = withPush(noPushes, undefined, 'a');
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
          const part = { blockNumber: 10n, index: null, isUnchanged };
          for (const from of sockets) pushes = withPush(pushes, part, from);
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
  let pushes = withPush(noPushes, undefined, 'a');
  for (let parts = 0; parts < 3; parts += 1) pushes = withPush(pushes, unchanged(10n), 'a');
  pushes = withCall(pushes, pushes, 4);
  const next = (blockNumber: bigint) => withPush(pushes, unchanged(blockNumber), 'a');
  expect([isUsedState(next(10n), used), isUsedState(next(11n), used)]).toEqual([true, false]);
});

test('parts are counted by one socket, however many push each', () => {
  const used = { view: viewOf(5n), index: null, shownAt: 0 };
  const sockets = ['a', 'b', 'c'];
  const pushAll = (pushes: Pushes, isUnchanged: boolean) =>
    sockets.reduce((before, from) => withPush(before, { blockNumber: 10n, index: null, isUnchanged }, from), pushes);
  let pushes = pushAll(noPushes, false);
  const known: boolean[] = [];
  for (let parts = 0; parts <= 3; parts += 1) {
    known.push(isUsedState(pushAll(withCall(pushes, pushes, null), true), used));
    pushes = pushAll(pushes, true);
  }
  expect(known).toEqual([false, false, false, true]);
});
