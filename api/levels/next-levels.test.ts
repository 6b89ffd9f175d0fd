import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { numberedAddress } from '../../quoting/pools/served-pool.fixture.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { type LevelsEffect, type LevelsEvent, type LevelsState, MAX_MS, newLevels, nextLevels } from './next-levels.ts';

/*
 * What frames of price levels show, where the tests say what is read and when.
 * What a frame waits for: `frame-contents.test.ts`.
 */

const BLOCK: BlockRef = { number: 7n, hash: '0x07', timestamp: 7n };
const OPEN = { isPublic: false, maxUnreadMs: 5_000 };
const PUBLIC = { ...OPEN, isPublic: true };

/** @param digest of what is pending on its block */
const snapshot = (digest: string | undefined) =>
  ({ block: { ...BLOCK, ...(digest && { pending: { digest } }) } }) as unknown as Snapshot;

type Due = Extract<LevelsEvent<Snapshot>, { kind: 'due' }>;
interface Seen {
  readonly digests?: readonly (string | undefined)[];
  readonly unread?: number;
  readonly omitted?: number;
  readonly isKnown?: boolean;
  readonly isRead?: boolean;
  readonly versions?: string;
}
/** A frame that is due when so much is read, of all that the query finds but those omitted. */
function due({ digests = [], unread = 0, omitted = 0, isKnown = true, isRead = true, versions = 'a' }: Seen): Due {
  const outcomes = [...digests.map(snapshot), ...Array.from({ length: unread }, () => undefined)];
  const wanted = outcomes.length;
  const pools = outcomes.map((outcome, index) => ({ pool: numberedAddress(index + 1), outcome, isBeingRead: false }));
  const announced = isKnown ? BLOCK : null;
  return {
    kind: 'due',
    versions,
    announced,
    found: wanted + omitted,
    wanted,
    look: isRead ? { block: BLOCK, pools } : null,
  };
}

/** The last effect of these events. The source opens at 0. */
function after(limits: typeof OPEN, ...events: readonly (readonly [at: number, event: LevelsEvent<Snapshot>])[]) {
  let state = newLevels(0);
  let effect: LevelsEffect<Snapshot> = { kind: 'nothing' };
  for (const [at, event] of events) [state, effect] = nextLevels(state, event, at, limits);
  return effect.kind === 'frame' ? { shown: effect.snapshots.length, unread: effect.unread } : effect.kind;
}

test('a read is a change when the last attempt saw other versions', () => {
  const read = (versions: string): LevelsEvent<Snapshot> => ({ kind: 'read', versions });
  const seen = due({ digests: [undefined], unread: 1, versions: 'a' });
  expect(after(OPEN, [0, seen], [1, read('a')])).toBe('nothing');
  expect(after(OPEN, [0, seen], [1, read('b')])).toBe('changed');
  expect(after(OPEN, [0, seen], [1, read('b')], [2, read('b')])).toBe('changed');
});

test('a frame of no pools takes a block that is known, and says what it leaves out', () => {
  expect(after(PUBLIC, [0, due({ omitted: 3, isRead: false })])).toEqual({ shown: 0, unread: 3 });
  expect(after(PUBLIC, [0, due({ omitted: 3, isKnown: false })])).toBe('unknown');
});

test('before the first read a known chain is late, and another one is unknown', () => {
  expect(after(OPEN, [0, due({ unread: 2, isRead: false })])).toBe('late');
  expect(after(OPEN, [0, due({ unread: 2, isRead: false, isKnown: false })])).toBe('unknown');
});

test('what all see is shown without pools that are not read, once none came for as long as frames wait', () => {
  const seen = due({ digests: [undefined], unread: 2, omitted: 1 });
  expect(after(PUBLIC, [4_999, seen])).toBe('late');
  expect(after(PUBLIC, [5_000, seen])).toEqual({ shown: 1, unread: 3 });
  expect(after(PUBLIC, [5_000, seen], [9_999, seen])).toBe('late');
  expect(after(PUBLIC, [5_000, seen], [10_000, seen])).toEqual({ shown: 1, unread: 3 });
  expect(after(PUBLIC, [5_000, due({ unread: 2 })])).toBe('late');
  expect(after(OPEN, [60_000, seen])).toBe('late');
});

test('a frame has live pools of several states of a block rather than come later than a second', () => {
  const seen = due({ digests: ['1', '2'] });
  expect(after(OPEN, [MAX_MS - 1, seen])).toBe('late');
  expect(after(OPEN, [MAX_MS, seen])).toEqual({ shown: 2, unread: 0 });
  expect(after(OPEN, [MAX_MS, seen], [2 * MAX_MS - 1, seen])).toBe('late');
});

test('a frame without pools does not count as one that shows some', () => {
  const seen = due({ digests: ['1', '2'] });
  expect(after(OPEN, [MAX_MS - 1, due({})], [MAX_MS, seen])).toEqual({ shown: 2, unread: 0 });
});

const seen = fc.record({
  digests: fc.array(fc.constantFrom(undefined, '1', '2'), { maxLength: 4 }),
  unread: fc.constantFrom(0, 0, 1, 2),
  omitted: fc.nat(3),
  isKnown: fc.boolean(),
  isRead: fc.constantFrom(true, true, false),
  versions: fc.constantFrom('a', 'b'),
});
const step = fc.record({ ms: fc.integer({ min: 0, max: 3_000 }), isDue: fc.boolean(), seen });

test('whatever happens, a frame has what it may show, and waits no longer than it must', () => {
  const property = fc.property(fc.boolean(), fc.array(step, { maxLength: 60 }), (isPublic, steps) => {
    let [state, now]: [LevelsState, number] = [newLevels(0), 0];
    let [attempted, shownAt] = ['', 0];
    for (const { ms, isDue, seen } of steps) {
      now += ms;
      const frame = due(seen);
      const event: LevelsEvent<Snapshot> = isDue ? frame : { kind: 'read', versions: seen.versions };
      const [next, effect] = nextLevels(state, event, now, { isPublic, maxUnreadMs: 5_000 });
      if (!isDue) {
        // 1, and a read changes nothing.
        expect(effect.kind).toBe(seen.versions === attempted ? 'nothing' : 'changed');
        expect(next).toBe(state);
        continue;
      }
      [state, attempted] = [next, seen.versions];
      const { digests, unread, omitted, isKnown, isRead } = seen;
      const isOverdue = now - shownAt >= MAX_MS;
      const isLong = now - shownAt >= 5_000;
      if (frame.wanted === 0) {
        // 2.
        expect(effect).toEqual(
          isKnown ? { kind: 'frame', block: BLOCK, snapshots: [], unread: omitted } : { kind: 'unknown' },
        );
      } else if (!isRead) {
        // 3.
        expect(effect.kind).toBe(isKnown ? 'late' : 'unknown');
      } else if (effect.kind === 'frame') {
        // 4: nothing that is read is left out, and all that is left out is counted.
        expect([effect.snapshots.length, effect.unread]).toEqual([digests.length, unread + omitted]);
        if (unread > 0) expect([isPublic, isLong, digests.length > 0]).toEqual([true, true, true]);
        // 5.
        const states = new Set(digests.filter(Boolean));
        if (states.size > 1) expect(isOverdue).toBe(true);
        expect(effect.block.pending === undefined).toBe(states.size === 0);
        shownAt = now;
      } else {
        // 4 and 5: it waits for nothing else.
        const isMixed = new Set(digests.filter(Boolean)).size > 1 && !isOverdue;
        const isShort = unread > 0 && !(isPublic && isLong && digests.length > 0);
        expect([effect.kind, isMixed || isShort]).toEqual(['late', true]);
      }
    }
  });
  fc.assert(property, { numRuns: runs(300) });
});
