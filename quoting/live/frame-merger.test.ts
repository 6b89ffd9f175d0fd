import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { BOUNDS, type Frame } from './frame.ts';
import { FrameMerger } from './frame-merger.fixture.ts';
import { nextMerged, noFrames, pendingOverrides } from './frame-merger.ts';
import { MAX_AGE_MS, MergeModel } from './merge-model.fixture.ts';
import type { PendingOverrides } from './sourced-block.ts';

const SOURCES = [{ id: 'a' }, { id: 'b' }, { id: 'c' }] as const;
const [one, two] = SOURCES;
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const hexOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
const [A, B] = [addressOf(1), addressOf(2)];
/** Overrides of one account, by slot. */
const overrides = (slots: Record<number, number>): StateOverrides =>
  new Map([[addressOf(9), new Map(Object.entries(slots).map(([slot, value]) => [hexOf(Number(slot)), hexOf(value)]))]]);
const frame = (blockNumber: number, venues: Record<Address, StateOverrides>, more: Partial<Frame> = {}): Frame => ({
  blockNumber: BigInt(blockNumber),
  timestamp: null,
  venues: new Map(Object.entries(venues) as [Address, StateOverrides][]),
  isComplete: false,
  ...more,
});

function mergerOf() {
  const clock = { ms: 0 };
  const merger = new FrameMerger(MAX_AGE_MS, () => clock.ms);
  return { clock, merger };
}

test('a frame of one block changes nothing of another, and the block after the head counts', () => {
  const { merger } = mergerOf();
  expect(merger.state(9n)).toBeUndefined();
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n)).toBe('used');
  const before = merger.state(9n);
  expect(merger.take(two, frame(11, { [B]: overrides({ 2: 2 }) }), 9n)).toBe('used');
  expect(merger.state(9n)).toBe(before);
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 3 }) }), 9n)).toBe('used');
  expect(merger.state(9n)).toMatchObject({ blockNumber: 10n, overrides: overrides({ 1: 3 }) });
  expect(merger.state(10n)).toMatchObject({ blockNumber: 11n, overrides: overrides({ 2: 2 }) });
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 4 }) }), 10n)).toBe('late');
});

test('of a source that names a block one too high in every tenth frame, each other frame counts', () => {
  const { merger, clock } = mergerOf();
  for (let n = 0; n < 100; n += 1) {
    clock.ms += 250;
    merger.take(one, frame(n % 10 === 0 ? 11 : 10, { [A]: overrides({ 1: n }) }), 9n);
    const shown = n % 10 === 0 ? n - 1 : n;
    expect(merger.state(9n)).toEqual(
      n === 0 ? undefined : expect.objectContaining({ overrides: overrides({ 1: shown }) }),
    );
  }
});

test('the block after the next is shown when sources sent it, and not the next, for the maximum age', () => {
  const { merger, clock } = mergerOf();
  const take = (number: number, value: number) => merger.take(one, frame(number, { [A]: overrides({ 1: value }) }), 9n);
  const shown = () => merger.state(9n)?.blockNumber;
  take(10, 1);
  for (clock.ms = 400; clock.ms <= 1_200; clock.ms += 400) {
    take(11, clock.ms);
    expect(shown()).toBe(clock.ms < 1_000 ? 10n : undefined);
  }
  take(11, 1_600);
  expect(merger.state(9n)).toMatchObject({ blockNumber: 11n, overrides: overrides({ 1: 1_600 }) });
  take(10, 2);
  expect(shown()).toBe(10n);
  // The last frame before the sources ended was a leap.
  take(11, 3);
  clock.ms += 1_001;
  expect(shown()).toBeUndefined();
});

test('a venue of a frame loses its overrides of before, other venues keep theirs unless the frame is complete', () => {
  const { merger } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 2 }), [B]: overrides({ 3: 3 }) }), 9n);
  merger.take(two, frame(10, { [A]: overrides({ 4: 4 }) }), 9n);
  merger.take(one, frame(10, { [A]: overrides({ 1: 5 }) }), 9n);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 5, 3: 3, 4: 4 }));
  merger.take(one, frame(10, { [A]: overrides({ 1: 6 }) }, { isComplete: true }), 9n);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 6, 4: 4 }));
  merger.take(one, frame(10, {}, { isComplete: true }), 9n);
  merger.take(two, frame(10, {}, { isComplete: true }), 9n);
  expect(merger.state(9n)).toBeUndefined();
});

test('a frame with the same overrides only renews them: newer overrides of another source still win, and all hold on', () => {
  const { merger, clock } = mergerOf();
  const older = () => merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 1 }) }), 9n);
  older();
  clock.ms = 100;
  merger.take(two, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  clock.ms = 900;
  older();
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 2, 2: 1 }), receivedAt: 100 });
  clock.ms = 1_200;
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 1, 2: 1 }), receivedAt: 900 });
  // Overrides count one by one: what changed is newer, what is repeated is not.
  merger.take(two, frame(10, { [B]: overrides({ 1: 2, 2: 2 }) }), 9n);
  merger.take(one, frame(10, { [A]: overrides({ 1: 3, 2: 1 }) }), 9n);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 3, 2: 2 }));
});

test('of two keys of a maker in one stream, the one that repeats an older word does not win, not even after the other ended', () => {
  for (const isEnded of [true, false]) {
    const { merger, clock } = mergerOf();
    const older = () => merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 1 }) }), 9n);
    older();
    for (clock.ms = 100; clock.ms < 2_000; clock.ms += 100) {
      if (clock.ms < 900) merger.take(one, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
      older();
      expect(merger.state(9n)?.overrides).toEqual(clock.ms < 1_900 ? overrides({ 1: 2, 2: 1 }) : overrides({ 2: 1 }));
    }
    if (isEnded) merger.take(one, frame(10, { [B]: overrides({}) }), 9n);
    older();
    expect(merger.state(9n)?.overrides).toEqual(overrides({ 2: 1 }));
    merger.take(one, frame(10, { [A]: overrides({ 1: 3, 2: 1 }) }), 9n);
    expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 3, 2: 1 }));
  }
});

test('a key that repeats the word of another when that ended still gives it', () => {
  const { merger, clock } = mergerOf();
  const repeat = () => merger.take(one, frame(10, { [A]: overrides({ 1: 2 }) }), 9n);
  repeat();
  merger.take(one, frame(10, { [B]: overrides({ 1: 1 }) }), 9n);
  merger.take(one, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  clock.ms = 900;
  repeat();
  clock.ms = 1_200;
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 2 }));
});

test('overrides that a key repeats from block to block win over no newer ones', () => {
  const { merger } = mergerOf();
  for (let number = 10; number < 20; number += 1) {
    const top = BigInt(number - 1);
    const older = () => merger.take(one, frame(number, { [A]: overrides({ 1: 1, 2: number === 10 ? 0 : 1 }) }), top);
    const newer = () => merger.take(one, frame(number, { [B]: overrides({ 1: 2 }) }), top);
    for (const take of number % 3 ? (number % 2 ? [newer, older] : [older, newer]) : [newer]) take();
    expect(merger.state(top)?.overrides.get(addressOf(9))?.get(hexOf(1))).toBe(hexOf(2));
  }
  merger.take(one, frame(20, { [A]: overrides({ 1: 1, 2: 1 }) }), 19n);
  expect(merger.state(19n)?.overrides).toEqual(overrides({ 2: 1 }));
});

test('a word that a key sent early for the next block does not win there over a newer one of another', () => {
  const { merger } = mergerOf();
  const older = (number: number) => merger.take(one, frame(number, { [A]: overrides({ 1: 1 }) }), 9n);
  older(10);
  older(11);
  merger.take(one, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  older(10);
  merger.take(one, frame(11, { [B]: overrides({ 1: 2 }) }), 10n);
  expect(merger.state(10n)?.overrides).toEqual(overrides({ 1: 2 }));
});

test('the newest frame wins where overrides differ, and the oldest frame with overrides in the result gives its time', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 1 }) }, { timestamp: 120n }), 9n);
  clock.ms = 100;
  merger.take(two, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 2, 2: 1 }), receivedAt: 0, timestamp: 120n });
  clock.ms = 200;
  merger.take(two, frame(10, { [B]: overrides({ 1: 3, 2: 3 }) }), 9n);
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 3, 2: 3 }), receivedAt: 200, timestamp: null });
});

test('overrides that are not renewed are left out after the maximum age', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  clock.ms = 600;
  merger.take(one, frame(10, { [B]: overrides({ 2: 2 }) }), 9n);
  clock.ms = 1_000;
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 1, 2: 2 }), receivedAt: 0 });
  clock.ms = 1_001;
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 2: 2 }), receivedAt: 600 });
  clock.ms = 1_601;
  expect(merger.state(9n)).toBeUndefined();
});

test('overrides that are too old are not shared, though their source counts as heard', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  clock.ms += MAX_AGE_MS + 1;
  merger.take(one, frame(10, { [B]: overrides({ 2: 2 }) }), 9n);
  const venues = () =>
    merger.shared().map(({ sources }) => sources.map(({ parts }) => parts.map(({ venue }) => venue)));
  expect(venues()).toEqual([[[B]]]);
  clock.ms += MAX_AGE_MS + 1;
  expect(venues()).toEqual([[[]]]);
});

test('a renewal with the same content changes only its age', () => {
  const { merger, clock } = mergerOf();
  const take = () => merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  take();
  const before = merger.state(9n);
  expect(merger.state(9n)).toBe(before);
  clock.ms = 500;
  take();
  const after = merger.state(9n);
  expect(after).toEqual({ ...before, receivedAt: 500 });
  expect(after?.digest).toMatch(/^[\w-]{22}$/);
});

test('number, time and overrides each change the digest', () => {
  const digestOf = (sent: Frame) => {
    const { merger } = mergerOf();
    merger.take(one, sent, undefined);
    return merger.state(undefined)?.digest;
  };
  const venues = { [A]: overrides({ 1: 1 }) };
  const sent = [
    frame(10, venues),
    frame(11, venues),
    frame(10, venues, { timestamp: 120n }),
    frame(10, { [A]: overrides({ 1: 2 }) }),
  ];
  expect(new Set(sent.map(digestOf)).size).toBe(4);
  expect(digestOf(frame(10, { [B]: overrides({ 1: 1 }) }))).toBe(digestOf(frame(10, venues)));
});

test('a block far above the head is dropped, and one that was taken before the head was known stops no other source', () => {
  const { merger } = mergerOf();
  expect(merger.take(one, frame(13, { [A]: overrides({ 1: 1 }) }), 10n)).toBe('ahead');
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 10n)).toBe('late');
  expect(merger.take(one, frame(2 ** 50, { [A]: overrides({ 1: 1 }) }), undefined)).toBe('used');
  expect(merger.take(two, frame(11, { [A]: overrides({ 1: 2 }) }), undefined)).toBe('used');
  expect(merger.state(undefined)?.blockNumber).toBe(2n ** 50n);
  expect(merger.state(10n)).toMatchObject({ blockNumber: 11n, overrides: overrides({ 1: 2 }) });
});

test('a source that sends ever more venues keeps those that it sent last', () => {
  const { merger } = mergerOf();
  const share = BOUNDS.overrides / 4;
  const many = (from: number) =>
    overrides(Object.fromEntries(Array.from({ length: share }, (_, n) => [from * share + n, 1])));
  for (let n = 0; n < 6; n += 1) merger.take(one, frame(10, { [addressOf(n)]: many(n) }), 9n);
  const slots = merger.state(9n)?.overrides.get(addressOf(9));
  expect([slots?.size, slots?.has(hexOf(2 * share)), slots?.has(hexOf(2 * share - 1))]).toEqual([
    BOUNDS.overrides,
    true,
    false,
  ]);
  for (let n = 0; n < 300; n += 1)
    merger.take(two, frame(10, { [addressOf(n)]: overrides({ [1_000_000 + n]: 1 }) }), 9n);
  expect(merger.state(9n)?.overrides.get(addressOf(9))?.size).toBe(BOUNDS.overrides + BOUNDS.venues);
});

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

test('only the overrides of sources that may be passed on are, by venue: of several the newest, which come first', () => {
  const [republished, other] = [
    { id: 'd', republish: true },
    { id: 'e', republish: true },
  ];
  const { merger } = mergerOf();
  const shown = () => [...(merger.state(9n)?.republished ?? [])];
  merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  expect(merger.state(9n)?.republished).toBeUndefined();
  const before = merger.state(9n)?.digest;
  merger.take(republished, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  expect(shown()).toEqual([[A, overrides({ 1: 1 })]]);
  expect(merger.state(9n)?.digest).not.toBe(before);
  merger.take(other, frame(10, { [A]: overrides({ 1: 2 }), [B]: overrides({ 2: 2 }) }), 9n);
  merger.take(one, frame(10, { [A]: overrides({ 1: 3 }) }), 9n);
  expect(new Map(shown())).toEqual(
    new Map([
      [A, overrides({ 1: 2 })],
      [B, overrides({ 2: 2 })],
    ]),
  );
  merger.take(republished, frame(10, { [A]: overrides({ 1: 4 }) }), 9n);
  merger.take(other, frame(10, { [B]: overrides({ 2: 2 }) }), 9n);
  merger.take(republished, frame(10, { [A]: overrides({ 1: 4 }) }), 9n);
  expect(shown()).toEqual([
    [A, overrides({ 1: 4 })],
    [B, overrides({ 2: 2 })],
  ]);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 4, 2: 2 }));
});
