import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import type { Words } from '../../chain/pending-state.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { BOUNDS, type Frame } from './frame.ts';
import { venuesOf } from './frames.fixture.ts';
import { MAX_AGE_MS, MergeModel } from './merge-model.fixture.ts';
import { FrameMerger, type PendingWords } from './pending-words.ts';

const SOURCES = [{}, {}, {}] as const;
const [one, two] = SOURCES;
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const hexOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`;
const [A, B] = [addressOf(1), addressOf(2)];
/** Words of one account, by slot. */
const words = (slots: Record<number, number>): Words =>
  new Map([[addressOf(9), new Map(Object.entries(slots).map(([slot, value]) => [hexOf(Number(slot)), hexOf(value)]))]]);
const frame = (blockNumber: number, venues: Record<Address, Words>, more: Partial<Frame> = {}): Frame => ({
  blockNumber: BigInt(blockNumber),
  timestamp: null,
  venues: new Map(Object.entries(venues) as [Address, Words][]),
  isComplete: false,
  ...more,
});

function mergerOf() {
  const clock = { ms: 0 };
  const merger = new FrameMerger(MAX_AGE_MS, () => clock.ms);
  return { clock, merger };
}

test('a higher block starts again, a lower one is dropped', () => {
  const { merger } = mergerOf();
  expect(merger.state()).toBeUndefined();
  expect(merger.take(one, frame(10, { [A]: words({ 1: 1 }) }), 9n)).toBe('used');
  expect(merger.take(two, frame(11, { [B]: words({ 2: 2 }) }), 9n)).toBe('used');
  expect(merger.take(one, frame(10, { [A]: words({ 1: 3 }) }), 9n)).toBe('late');
  expect(merger.state()).toMatchObject({ blockNumber: 11n, words: words({ 2: 2 }) });
});

test('a venue of a frame loses its words of before, other venues keep theirs unless the frame is complete', () => {
  const { merger } = mergerOf();
  merger.take(one, frame(10, { [A]: words({ 1: 1, 2: 2 }), [B]: words({ 3: 3 }) }), 9n);
  merger.take(two, frame(10, { [A]: words({ 4: 4 }) }), 9n);
  merger.take(one, frame(10, { [A]: words({ 1: 5 }) }), 9n);
  expect(merger.state()?.words).toEqual(words({ 1: 5, 3: 3, 4: 4 }));
  merger.take(one, frame(10, { [A]: words({ 1: 6 }) }, { isComplete: true }), 9n);
  expect(merger.state()?.words).toEqual(words({ 1: 6, 4: 4 }));
  merger.take(one, frame(10, {}, { isComplete: true }), 9n);
  merger.take(two, frame(10, {}, { isComplete: true }), 9n);
  expect(merger.state()).toBeUndefined();
});

test('a frame with the same words only renews them: newer words of another venue still win, and all hold on', () => {
  const { merger, clock } = mergerOf();
  const before = words({ 1: 1, 2: 1 });
  merger.take(one, frame(10, { [A]: before }), 9n);
  clock.ms = 100;
  merger.take(two, frame(10, { [B]: words({ 1: 2 }) }), 9n);
  clock.ms = 900;
  merger.take(one, frame(10, { [A]: before }), 9n);
  expect(merger.state()).toMatchObject({ words: words({ 1: 2, 2: 1 }), receivedAt: 100 });
  clock.ms = 1_200;
  expect(merger.state()).toMatchObject({ words: before, receivedAt: 900 });
  // The same words in another object are a newer frame.
  merger.take(two, frame(10, { [B]: words({ 1: 2 }) }), 9n);
  merger.take(one, frame(10, { [A]: words({ 1: 1, 2: 1 }) }), 9n);
  expect(merger.state()?.words).toEqual(before);
});

test('the newest frame wins where words differ, and the oldest frame with words in the result gives its time', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: words({ 1: 1, 2: 1 }) }, { timestamp: 120n }), 9n);
  clock.ms = 100;
  merger.take(two, frame(10, { [B]: words({ 1: 2 }) }), 9n);
  expect(merger.state()).toMatchObject({ words: words({ 1: 2, 2: 1 }), receivedAt: 0, timestamp: 120n });
  clock.ms = 200;
  merger.take(two, frame(10, { [B]: words({ 1: 3, 2: 3 }) }), 9n);
  expect(merger.state()).toMatchObject({ words: words({ 1: 3, 2: 3 }), receivedAt: 200, timestamp: null });
});

test('words that are not renewed are left out after the maximum age', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: words({ 1: 1 }) }), 9n);
  clock.ms = 600;
  merger.take(one, frame(10, { [B]: words({ 2: 2 }) }), 9n);
  clock.ms = 1_000;
  expect(merger.state()).toMatchObject({ words: words({ 1: 1, 2: 2 }), receivedAt: 0 });
  clock.ms = 1_001;
  expect(merger.state()).toMatchObject({ words: words({ 2: 2 }), receivedAt: 600 });
  clock.ms = 1_601;
  expect(merger.state()).toBeUndefined();
});

test('a renewal with the same content changes only its age', () => {
  const { merger, clock } = mergerOf();
  const take = () => merger.take(one, frame(10, { [A]: words({ 1: 1 }) }), 9n);
  take();
  const before = merger.state();
  expect(merger.state()).toBe(before);
  clock.ms = 500;
  take();
  const after = merger.state();
  expect(after).toEqual({ ...before, receivedAt: 500 });
  expect(after?.digest).toMatch(/^[\w-]{22}$/);
});

test('number, time and words each change the digest', () => {
  const digestOf = (sent: Frame) => {
    const { merger } = mergerOf();
    merger.take(one, sent, undefined);
    return merger.state()?.digest;
  };
  const venues = { [A]: words({ 1: 1 }) };
  const sent = [
    frame(10, venues),
    frame(11, venues),
    frame(10, venues, { timestamp: 120n }),
    frame(10, { [A]: words({ 1: 2 }) }),
  ];
  expect(new Set(sent.map(digestOf)).size).toBe(4);
  expect(digestOf(frame(10, { [B]: words({ 1: 1 }) }))).toBe(digestOf(frame(10, venues)));
});

test('a block far above the head is dropped, and one that was taken before the head was known stops no other source', () => {
  const { merger } = mergerOf();
  expect(merger.take(one, frame(13, { [A]: words({ 1: 1 }) }), 10n)).toBe('ahead');
  expect(merger.take(one, frame(10, { [A]: words({ 1: 1 }) }), 10n)).toBe('late');
  expect(merger.take(one, frame(2 ** 50, { [A]: words({ 1: 1 }) }), undefined)).toBe('used');
  expect(merger.take(two, frame(11, { [A]: words({ 1: 2 }) }), undefined)).toBe('late');
  expect(merger.take(two, frame(11, { [A]: words({ 1: 2 }) }), 10n)).toBe('used');
  expect(merger.state()).toMatchObject({ blockNumber: 11n, words: words({ 1: 2 }) });
});

test('a source that sends ever more venues keeps those that it sent last', () => {
  const { merger } = mergerOf();
  const share = BOUNDS.words / 4;
  const many = (from: number) =>
    words(Object.fromEntries(Array.from({ length: share }, (_, n) => [from * share + n, 1])));
  for (let n = 0; n < 6; n += 1) merger.take(one, frame(10, { [addressOf(n)]: many(n) }), 9n);
  const slots = merger.state()?.words.get(addressOf(9));
  expect([slots?.size, slots?.has(hexOf(2 * share)), slots?.has(hexOf(2 * share - 1))]).toEqual([
    BOUNDS.words,
    true,
    false,
  ]);
  for (let n = 0; n < 300; n += 1) merger.take(two, frame(10, { [addressOf(n)]: words({ [1_000_000 + n]: 1 }) }), 9n);
  expect(merger.state()?.words.get(addressOf(9))?.size).toBe(BOUNDS.words + BOUNDS.venues);
});

const small = fc.integer({ min: 1, max: 3 });
const step = fc.record({
  waitMs: fc.constantFrom(0, 100, 400, 1_001),
  source: fc.constantFrom(...SOURCES),
  head: fc.option(fc.bigInt(9n, 11n), { nil: undefined }),
  frame: fc.record({
    blockNumber: fc.constantFrom(10n, 11n, 11n, 11n, 12n, 500n),
    timestamp: fc.constantFrom(null, 120n, 132n),
    venues: venuesOf(small.map(addressOf), small.map(hexOf)),
    isComplete: fc.boolean(),
  }),
});

test('any frames in any order merge as in a model, and digests tell contents apart', () => {
  const contents = new Map<string, string>();
  const counts = { used: 0, late: 0, ahead: 0, none: 0 };
  const textOf = ({ blockNumber, timestamp, words: merged }: PendingWords) =>
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
          const { digest, ...state } = merger.state() ?? {};
          const expected = model.state(clock.ms);
          if (!expected || digest === undefined) {
            counts.none += 1;
            expect([digest, expected]).toEqual([undefined, undefined]);
            continue;
          }
          expect(state).toEqual(expected);
          const text = textOf(state as PendingWords);
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

test('only the words of sources that may be passed on are, by venue: of several the newest, which come first', () => {
  const [open, other] = [{ republish: true }, { republish: true }];
  const { merger } = mergerOf();
  const shown = () => [...(merger.state()?.republished ?? [])];
  merger.take(one, frame(10, { [A]: words({ 1: 1 }) }), 9n);
  expect(merger.state()?.republished).toBeUndefined();
  const before = merger.state()?.digest;
  merger.take(open, frame(10, { [A]: words({ 1: 1 }) }), 9n);
  expect(shown()).toEqual([[A, words({ 1: 1 })]]);
  expect(merger.state()?.digest).not.toBe(before);
  merger.take(other, frame(10, { [A]: words({ 1: 2 }), [B]: words({ 2: 2 }) }), 9n);
  merger.take(one, frame(10, { [A]: words({ 1: 3 }) }), 9n);
  expect(new Map(shown())).toEqual(
    new Map([
      [A, words({ 1: 2 })],
      [B, words({ 2: 2 })],
    ]),
  );
  merger.take(open, frame(10, { [A]: words({ 1: 4 }) }), 9n);
  merger.take(other, frame(10, { [B]: words({ 2: 2 }) }), 9n);
  merger.take(open, frame(10, { [A]: words({ 1: 4 }) }), 9n);
  expect(shown()).toEqual([
    [A, words({ 1: 4 })],
    [B, words({ 2: 2 })],
  ]);
  expect(merger.state()?.words).toEqual(words({ 1: 4, 2: 2 }));
});
