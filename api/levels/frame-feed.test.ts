import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FrameFeeds, type FrameReader, type FrameSource } from './frame-feed.ts';
import { madeOf } from './made-frame.fixture.ts';

/* Feeds whose time the tests drive. What is due when: `frame-schedule.test.ts`. */

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const setup = () => {
  const failures: unknown[] = [];
  const feeds = new FrameFeeds({ error: (fields: unknown) => failures.push(fields) } as never, () => performance.now());
  return { feeds, failures };
};

/** A source of these frames, made at once. */
function sourceOf(make: FrameSource['make']) {
  const seen = { open: 0 };
  const source: FrameSource = {
    make,
    start: () => {
      seen.open += 1;
      return () => {
        seen.open -= 1;
      };
    },
    minMs: 250,
    maxMs: 900,
  };
  return { source, seen };
}

/** A reader, and what it got and when. */
function readerOf() {
  const got: string[] = [];
  const reader: FrameReader & { isReady: boolean } = {
    isReady: true,
    take: ({ frame }) => got.push(`${frame} at ${performance.now()}`),
    onSilence: () => got.push(`silence at ${performance.now()}`),
  };
  return { reader, got };
}

/** Frames that tell when they were made. */
const timed = async () => madeOf(`frame of ${performance.now()}`);

test('a reader that joins as the others are sent away gets its own two seconds of silence', async () => {
  const { feeds } = setup();
  const { source, seen } = sourceOf(async () => null);
  const feed = feeds.of('k', () => source);
  const [one, other] = [readerOf(), readerOf()];
  feed({
    ...one.reader,
    onSilence: () => {
      one.got.push(`silence at ${performance.now()}`);
      feed(other.reader);
    },
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([one.got, other.got, seen.open]).toEqual([['silence at 2000'], ['silence at 4000'], 0]);
});

test('a reader that joins between two frames, or renews, gets one that is begun then', async () => {
  const { feeds } = setup();
  const { source } = sourceOf(timed);
  const feed = feeds.of('k', () => source);
  const [one, other] = [readerOf(), readerOf()];
  feed(one.reader);
  await vi.advanceTimersByTimeAsync(400);
  feed(other.reader);
  await vi.advanceTimersByTimeAsync(600);
  expect(other.got).toEqual(['frame of 400 at 400']);
  feed.renew();
  await vi.advanceTimersByTimeAsync(10);
  feed.renew();
  await vi.advanceTimersByTimeAsync(250);
  expect(other.got).toEqual([400, 1_000, 1_250].map((at) => `frame of ${at} at ${at}`));
  expect(one.got).toEqual(['frame of 0 at 0', ...other.got]);
});

test('a source is stopped when its last reader leaves, and started again for the next one', async () => {
  const { feeds } = setup();
  const { source, seen } = sourceOf(timed);
  const feed = feeds.of('k', () => source);
  const [one, other] = [readerOf(), readerOf()];
  const leave = feed(one.reader);
  expect(seen.open).toBe(1);
  leave();
  leave();
  expect(seen.open).toBe(0);
  feed(other.reader);
  await vi.advanceTimersByTimeAsync(10);
  expect([seen.open, one.got, other.got]).toEqual([1, [], ['frame of 0 at 0']]);
});

test('frames that anyone chooses wait for each other, and no other frame for them', async () => {
  const { feeds } = setup();
  const turn = Promise.withResolvers<null>();
  const [slow, next, other] = [sourceOf(() => turn.promise), sourceOf(timed), sourceOf(timed)];
  const [waiting, served] = [readerOf(), readerOf()];
  feeds.of('slow', () => ({ ...slow.source, isOfAnyone: true }))(readerOf().reader);
  feeds.of('next', () => ({ ...next.source, isOfAnyone: true }))(waiting.reader);
  feeds.of('other', () => other.source)(served.reader);
  await vi.advanceTimersByTimeAsync(10);
  expect([waiting.got, served.got]).toEqual([[], ['frame of 0 at 0']]);
  turn.resolve(null);
  await vi.advanceTimersByTimeAsync(10);
  expect(waiting.got).toEqual(['frame of 10 at 10']);
});

test('no frame is made for a feed that ended while it waited for its turn', async () => {
  const { feeds } = setup();
  const turn = Promise.withResolvers<null>();
  const slow = sourceOf(() => turn.promise);
  let made = 0;
  const next = sourceOf(async () => {
    made += 1;
    return null;
  });
  feeds.of('slow', () => slow.source)(readerOf().reader);
  const leave = feeds.of('next', () => next.source)(readerOf().reader);
  await vi.advanceTimersByTimeAsync(10);
  leave();
  turn.resolve(null);
  await vi.advanceTimersByTimeAsync(10);
  expect([made, next.seen.open]).toEqual([0, 0]);
});

test('a frame that cannot be made is logged, and the next one comes', async () => {
  const { feeds, failures } = setup();
  let isBroken = true;
  const { source } = sourceOf(async () => {
    if (isBroken) throw new Error('broken');
    return timed();
  });
  const { reader, got } = readerOf();
  feeds.of('k', () => source)(reader);
  await vi.advanceTimersByTimeAsync(10);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(500);
  expect([failures.length, got]).toEqual([1, ['frame of 250 at 250']]);
});
