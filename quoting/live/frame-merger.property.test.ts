import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { A, addressOf, B, FrameMerger, frame, mergerOf, overrides, SOURCES } from './frame-merger.fixture.ts';
import { nextMerged, noFrames, pendingOverrides } from './frame-merger.ts';
import { MAX_AGE_MS, MergeModel } from './merge-model.fixture.ts';
import type { PendingOverrides } from './sourced-block.ts';

const small = fc.integer({ min: 1, max: 3 });
/** Few values, so that they are repeated. */
const fewWords = fc.dictionary(fc.constantFrom('1', '2', '3'), small).map((slots) => overrides(slots));
const step = fc.record({
  waitMs: fc.constantFrom(0, 100, 400, 1_001),
  source: fc.constantFrom(...SOURCES),
  head: fc.option(fc.bigInt(9n, 11n), { nil: undefined }),
  frame: fc.record({
    blockNumber: fc.constantFrom(10n, 11n, 11n, 11n, 12n, 13n, 500n),
    timestamp: fc.constantFrom(null, 120n, 132n),
    venues: fc.array(fc.tuple(small.map(addressOf), fewWords), { maxLength: 3 }).map((entries) => new Map(entries)),
    isComplete: fc.boolean(),
  }),
});

test('any frames in any order merge as in a model, and digests tell contents apart', () => {
  const contents = new Map<string, string>();
  const counts = { used: 0, late: 0, ahead: 0, none: 0 };
  const textOf = ({ blockNumber, timestamp, overrides: merged }: PendingOverrides) =>
    [
      blockNumber,
      timestamp,
      ...[...merged].flatMap(([account, slots]) => [...slots].map((slot) => [account, slot].join())).sort(),
    ].join();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const { merger, clock } = mergerOf();
      const model = new MergeModel();
      for (const { waitMs, source, head, frame: sent } of steps) {
        clock.ms += waitMs;
        const outcome = merger.take(source, sent, head);
        expect(outcome).toBe(model.take({ source, frame: sent, at: clock.ms }, head));
        counts[outcome] += 1;
        // States are also seen between frames, at times with nothing in between.
        for (const moreMs of waitMs === 100 ? [0] : [0, 300]) {
          clock.ms += moreMs;
          const { digest, ...state } = merger.state(head) ?? {};
          const expected = model.state(clock.ms, head);
          if (!expected || digest === undefined) {
            counts.none += 1;
            expect([digest, expected]).toEqual([undefined, undefined]);
            continue;
          }
          expect(state).toEqual(expected);
          const text = textOf(state as PendingOverrides);
          expect(contents.get(digest) ?? text).toBe(text);
          contents.set(digest, text);
        }
      }
    }),
    { numRuns: runs(500) },
  );
  expect(new Set(contents.values()).size).toBe(contents.size);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(50);
});

test('a process that takes what another shares merges the same', () => {
  let several = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      const { merger, clock } = mergerOf();
      const follower = new FrameMerger(MAX_AGE_MS, () => clock.ms);
      for (const { waitMs, source, head, frame: sent } of steps) {
        clock.ms += waitMs;
        merger.take(source, sent, head);
        const shared = merger.shared();
        follower.adopt(shared);
        if (shared.length > 1) several += 1;
        expect(follower.state(head)).toEqual(merger.state(head));
      }
    }),
    { numRuns: runs(200) },
  );
  expect(several).toBeGreaterThan(50);
});

test('what is merged later changes no state of before', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 15 }), (steps) => {
      let [state, ms] = [noFrames, 0];
      const before = steps.map(({ waitMs, source, head, frame: sent }) => {
        ms += waitMs;
        const event = { kind: 'frame', source, frame: sent, top: head } as const;
        [state] = nextMerged(state, event, ms, MAX_AGE_MS);
        const [now, at] = [ms, state];
        const read = () => pendingOverrides(at, head, now, MAX_AGE_MS)[1];
        return { read, result: structuredClone(read()) };
      });
      for (const { read, result } of before) expect(read()).toEqual(result);
    }),
    { numRuns: runs(100) },
  );
});

test('frames that repeat what their venues said last change nothing, in any order', () => {
  const sent = fc.record({
    source: fc.constantFrom(...SOURCES),
    venue: fc.constantFrom(A, B),
    slots: fc.dictionary(fc.constantFrom('1', '2', '3'), small),
  });
  let several = 0;
  fc.assert(
    fc.property(fc.array(sent, { minLength: 2, maxLength: 12 }), fc.infiniteStream(fc.nat()), (all, random) => {
      const { merger } = mergerOf();
      const last = new Map<string, () => void>();
      for (const { source, venue, slots } of all) {
        const take = () => merger.take(source, frame(10, { [venue]: overrides(slots) }), 9n);
        last.set(`${SOURCES.indexOf(source)} ${venue}`, take);
        take();
      }
      const { digest } = merger.state(9n) ?? {};
      for (let turn = 0; turn < 10; turn += 1) {
        const takes = [...last.values()];
        takes[random.next().value % takes.length]?.();
        expect(merger.state(9n)?.digest).toBe(digest);
      }
      if (last.size > 2) several += 1;
    }),
    { numRuns: runs(300) },
  );
  expect(several).toBeGreaterThan(50);
});
