import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LEASE_MS, RENEW_MS } from './feed-schedule.ts';
import { frameOf, MAX_AGE_MS, now, startRedis, wordsOf } from './sharing-processes.fixture.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function startTwo() {
  const redis = startRedis();
  const [reader, follower] = [redis.start(), redis.start()];
  await redis.wait(RENEW_MS);
  expect([reader.feed.isReading, follower.feed.isReading]).toEqual([true, false]);
  return { ...redis, reader, follower, words: () => wordsOf(follower.feed.state()) };
}

test('that the last words ended reaches other processes at once, by whatever source', async () => {
  for (const cancel of [frameOf(10, { 1: null }), frameOf(10, {}, true)]) {
    const { send, wait, words } = await startTwo();
    const source = cancel.isComplete ? 1 : 0;
    send(source, frameOf(10, { 1: 5 }, cancel.isComplete));
    expect(words()).toEqual({ 0: 5, 2: 5 });
    send(source, cancel);
    expect(words()).toBeUndefined();
    await wait(2_000);
    expect(words()).toBeUndefined();
  }
});

test('a cancel of some words reaches other processes within the least time between two messages', async () => {
  const { send, sent, words } = await startTwo();
  send(0, frameOf(10, { 1: 5, 2: 6 }));
  send(0, frameOf(10, { 2: null }));
  send(0, frameOf(10, { 2: null }));
  expect([words(), sent.length]).toEqual([{ 0: 5, 2: 5, 3: 6 }, 1]);
  await vi.advanceTimersByTimeAsync(80);
  expect([words(), sent.length]).toEqual([{ 0: 5, 2: 5 }, 2]);
});

test('a process that comes later learns that there are no words, and takes none for granted', async () => {
  const { send, start, wait, processes } = await startTwo();
  send(0, frameOf(10, { 1: 5 }));
  send(0, frameOf(10, { 1: null }));
  const later = start();
  await wait(RENEW_MS);
  expect([...processes].map(({ feed }) => feed.state())).toEqual([undefined, undefined, undefined]);
  expect(later.feed.isReading).toBe(false);
});

test('a process that becomes the reader keeps what others sent, until each source says otherwise', async () => {
  const { send, stop, wait, reader, follower, start, processes } = await startTwo();
  send(0, frameOf(10, { 1: 5 }));
  send(1, frameOf(10, { 2: 6, 3: 7 }, true));
  await wait(RENEW_MS);
  stop(reader);
  await wait(LEASE_MS + RENEW_MS);
  expect(follower.feed.isReading).toBe(true);
  const third = start();
  await wait(RENEW_MS);
  const words = () => [...processes].map(({ feed }) => wordsOf(feed.state()));
  const both = <T>(value: T) => [value, value];
  expect(words()).toEqual(both({ 0: 6, 2: 5, 3: 6, 4: 7 }));
  send(1, frameOf(10, { 2: 8 }, true));
  await wait(RENEW_MS);
  expect(words()).toEqual(both({ 0: 8, 2: 5, 3: 8 }));
  send(0, frameOf(10, { 1: null }));
  send(1, frameOf(10, {}, true));
  expect(words()).toEqual(both(undefined));
  expect(third.feed.isReading).toBe(false);
});

test('what a reader keeps of others expires as it would have there', async () => {
  const { send, stop, wait, reader, follower, words } = await startTwo();
  const sentAt = now();
  send(0, frameOf(10, { 1: 5 }));
  await wait(RENEW_MS);
  stop(reader);
  await wait(LEASE_MS + RENEW_MS);
  expect([follower.feed.isReading, words()]).toEqual([true, { 0: 5, 2: 5 }]);
  await vi.advanceTimersByTimeAsync(sentAt + MAX_AGE_MS - now());
  expect(words()).toEqual({ 0: 5, 2: 5 });
  await vi.advanceTimersByTimeAsync(1);
  expect(words()).toBeUndefined();
});

test('a reader that heard of no source says nothing, and of one that it did not hear nothing', async () => {
  const { send, start, stop, wait, reader, follower, words } = await startTwo();
  send(0, frameOf(10, { 1: 5 }));
  send(1, frameOf(10, { 2: 6 }, true));
  await wait(RENEW_MS);
  stop(reader);
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  // One that knows nothing comes first.
  const fresh = start();
  await fresh.shared.tick();
  await wait(RENEW_MS);
  expect([fresh.feed.isReading, follower.feed.isReading, words()]).toEqual([true, false, { 0: 6, 2: 5, 3: 6 }]);
  send(1, frameOf(10, {}, true));
  expect([wordsOf(fresh.feed.state()), words()]).toEqual([undefined, { 0: 5, 2: 5 }]);
});
