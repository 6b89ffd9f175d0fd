import { describe, expect, test } from 'vitest';
import { PACE, type Reader, readerOf } from './feed-run.fixture.ts';
import { type FeedEvent, type FramePace, newFeed, nextFeed } from './frame-schedule.ts';
import { madeOf } from './made-frame.fixture.ts';

/* The schedule of a feed, where the tests say what happens and when. */

const FRAME = madeOf('frame');

/** An event, or a change of readers. */
type Happening = readonly [at: number, event: FeedEvent<Reader>] | (() => void);
const joined = (at: number, reader: Reader): Happening => [at, { kind: 'joined', reader }];
const made = (at: number, frame: Extract<FeedEvent<Reader>, { kind: 'made' }>['made']): Happening => [
  at,
  { kind: 'made', made: frame },
];
const changed = (at: number): Happening => [at, { kind: 'changed' }];
const time = (at: number): Happening => [at, { kind: 'time' }];
const becomes = (reader: Reader, isReady: boolean) => () => {
  reader.isReady = isReady;
};

/** What the last of these events leads to. */
function outcomeOf(happenings: readonly Happening[], pace: FramePace = PACE) {
  let state = newFeed<Reader>();
  let effects: ReturnType<typeof nextFeed<Reader>>[1] | undefined;
  for (const each of happenings)
    if (typeof each === 'function') each();
    else [state, effects] = nextFeed(state, each[1], each[0], pace);
  const { send, silent, isMakeDue, wakeAt } = effects as NonNullable<typeof effects>;
  const to = send?.to.flatMap(({ name, isReady }) => (isReady ? [name] : [])) ?? [];
  return { to, silent: silent.map(({ name }) => name), isMakeDue, wakeAt };
}

const nothing = { to: [], silent: [], isMakeDue: false };

describe('frames are made', () => {
  test('at once for the first reader', () => {
    expect(outcomeOf([joined(0, readerOf('a'))])).toMatchObject({ isMakeDue: true, to: [] });
  });
  test('at the longest time after the last one, without a change', () => {
    const start = [joined(0, readerOf('a')), made(10, FRAME)];
    expect(outcomeOf(start)).toEqual({ ...nothing, to: ['a'], wakeAt: 910 });
    expect(outcomeOf([...start, time(909)])).toEqual({ ...nothing, wakeAt: 910 });
    expect(outcomeOf([...start, time(910)])).toMatchObject({ isMakeDue: true });
  });
  test('at a change, but at the shortest time after the last one at the earliest', () => {
    const start = [joined(0, readerOf('a')), made(10, FRAME)];
    expect(outcomeOf([...start, changed(100)])).toEqual({ ...nothing, wakeAt: 260 });
    expect(outcomeOf([...start, changed(100), time(260)])).toMatchObject({ isMakeDue: true });
    expect(outcomeOf([...start, changed(500)])).toMatchObject({ isMakeDue: true });
  });
  test('again when something changed while the last one was made', () => {
    expect(outcomeOf([joined(0, readerOf('a')), changed(5), made(10, FRAME)])).toMatchObject({
      to: ['a'],
      wakeAt: 260,
    });
  });
  test('after an attempt without a frame at a change, or after the shortest time', () => {
    for (const none of ['late', null] as const) {
      const start = [joined(0, readerOf('a')), made(10, none)];
      expect(outcomeOf(start)).toEqual({ ...nothing, wakeAt: 260 });
      expect(outcomeOf([...start, changed(20)])).toMatchObject({ isMakeDue: true });
      expect(outcomeOf([...start, time(260)])).toMatchObject({ isMakeDue: true });
    }
  });
  test('only while a reader is ready, which is looked at after the shortest time', () => {
    const slow = readerOf('slow', false);
    expect(outcomeOf([joined(0, slow)])).toEqual({ ...nothing, wakeAt: 250 });
    expect(outcomeOf([joined(0, slow), changed(10)])).toMatchObject({ isMakeDue: false });
    expect(outcomeOf([joined(0, slow), becomes(slow, true), time(250)])).toMatchObject({ isMakeDue: true });
  });
});

describe('a reader that joins', () => {
  const start = [joined(0, readerOf('a')), made(10, FRAME)];
  const other = readerOf('b');
  test('gets a frame of its own time, the shortest time after the last one at the earliest', () => {
    expect(outcomeOf([...start, joined(500, other)])).toMatchObject({ to: [], isMakeDue: true });
    expect(outcomeOf([...start, joined(100, other)])).toEqual({ ...nothing, wakeAt: 260 });
    expect(outcomeOf([...start, joined(100, other), time(260)])).toMatchObject({ to: [], isMakeDue: true });
    const both = [...start, joined(100, other), time(260), made(270, FRAME)];
    expect(outcomeOf(both)).toEqual({ ...nothing, to: ['a', 'b'], wakeAt: 1_170 });
  });
  test('gets none that was begun before it joined, but the next one', () => {
    const during = [...start, time(910), joined(911, other)];
    expect(outcomeOf(during)).toMatchObject({ to: [], isMakeDue: false });
    expect(outcomeOf([...during, made(920, FRAME)])).toEqual({ ...nothing, to: ['a'], wakeAt: 1_170 });
    expect(outcomeOf([...during, made(920, FRAME), time(1_170), made(1_180, FRAME)])).toMatchObject({ to: ['a', 'b'] });
  });
  test('causes no further attempts while there is no frame', () => {
    const none = [joined(0, readerOf('a')), made(10, null)];
    expect(outcomeOf([...none, joined(20, other)])).toEqual({ ...nothing, wakeAt: 260 });
  });
  test('or asks again gets one in the same way', () => {
    const asked: Happening = [100, { kind: 'asked' }];
    expect(outcomeOf([...start, asked])).toEqual({ ...nothing, wakeAt: 260 });
    expect(outcomeOf([...start, asked, time(260), made(270, FRAME)])).toEqual({ ...nothing, to: ['a'], wakeAt: 1_170 });
  });
  test('gets no old frame while all others are slow', () => {
    const slow = readerOf('slow');
    const polls = Array.from({ length: 15 }, (_, index) => time(910 + 250 * index));
    const still = [joined(0, slow), made(10, FRAME), becomes(slow, false), ...polls];
    expect(outcomeOf([...still, joined(4_600, readerOf('b'))])).toMatchObject({ to: [], silent: [], isMakeDue: true });
  });
  test('gets no frame from before frames were late', () => {
    const end = outcomeOf([...start, changed(300), made(310, 'late'), joined(320, readerOf('b'))]);
    expect(end).toMatchObject({ to: [], isMakeDue: false });
  });
});

describe('readers are sent away', () => {
  const none = (times: readonly number[], of: 'late' | null = null) => times.flatMap((at) => [time(at), made(at, of)]);
  const each250 = (from: number, until: number) =>
    Array.from({ length: Math.floor((until - from) / 250) + 1 }, (_, index) => from + index * 250);
  test('after two seconds when nothing of the chain is known', () => {
    const start = [joined(0, readerOf('a')), made(0, null), ...none(each250(250, 1_750))];
    expect(outcomeOf(start)).toEqual({ ...nothing, wakeAt: 2_000 });
    expect(outcomeOf([...start, time(2_000)])).toMatchObject({ isMakeDue: true, silent: [] });
    expect(outcomeOf([...start, time(2_000), made(2_000, null)])).toEqual({ ...nothing, silent: ['a'], wakeAt: null });
    expect(outcomeOf([...start, time(2_000), made(2_000, FRAME)])).toMatchObject({ to: ['a'], silent: [] });
  });
  test('each two seconds after it joined at the earliest', () => {
    const start = [joined(0, readerOf('a')), made(0, null), ...none(each250(250, 1_750))];
    const both = [...start, joined(1_990, readerOf('b')), time(2_000), made(2_000, null)];
    expect(outcomeOf(both)).toEqual({ ...nothing, silent: ['a'], wakeAt: 2_250 });
    const rest = none(each250(2_250, 3_750));
    expect(outcomeOf([...both, ...rest])).toMatchObject({ silent: [], wakeAt: 3_990 });
    expect(outcomeOf([...both, ...rest, time(3_990)])).toMatchObject({ silent: ['b'], wakeAt: null });
  });
  test('much later while frames are late', () => {
    const start = [joined(0, readerOf('a')), made(0, 'late'), ...none(each250(250, 9_750), 'late')];
    expect(outcomeOf(start)).toMatchObject({ silent: [], wakeAt: 10_000 });
    expect(outcomeOf([...start, time(10_000), made(10_000, 'late')])).toMatchObject({ silent: ['a'], wakeAt: null });
    // Then the chain is not known any more.
    const lost = [...start, ...none(each250(10_000, 10_000))];
    expect(outcomeOf(lost)).toMatchObject({ silent: ['a'] });
    const short = [joined(0, readerOf('a')), made(0, 'late'), ...none(each250(250, 1_000), 'late')];
    expect(outcomeOf([...short, ...none(each250(1_250, 2_750))])).toMatchObject({ silent: [] });
    expect(outcomeOf([...short, ...none(each250(1_250, 3_000))])).toMatchObject({ silent: ['a'] });
  });
  test('not because none of them took frames', () => {
    const slow = readerOf('slow', false);
    const still = [joined(0, slow), ...each250(250, 60_000).map(time)];
    expect(outcomeOf(still)).toMatchObject({ silent: [], isMakeDue: false });
  });
  test('not because the process stood still', () => {
    const start = [joined(0, readerOf('a')), made(10, FRAME)];
    expect(outcomeOf([...start, time(30_000)])).toMatchObject({ silent: [], isMakeDue: true });
    expect(outcomeOf([...start, time(30_000), time(30_001)])).toMatchObject({ silent: [], isMakeDue: false });
    expect(outcomeOf([...start, time(30_000), made(30_002, null)])).toMatchObject({ silent: ['a'] });
  });
});
