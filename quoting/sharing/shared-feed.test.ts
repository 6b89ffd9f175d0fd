import fc from 'fast-check';
import type { Address } from 'viem';
import { numberToHex } from 'viem';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LiveSourceConfig } from '../../config/live-schema.ts';
import { createLogger } from '../../runtime/logger.ts';
import { runs } from '../../test/harness/property-seed.ts';
import type { Frame } from '../live/frame.ts';
import { FrameMerger } from '../live/frame-merger.fixture.ts';
import { LiveFeed } from '../live/live-feed.ts';
import type { PendingOverrides } from '../live/sourced-block.ts';
import { LEASE_MS, RENEW_MS } from './feed-schedule.ts';
import { SharedFeed } from './shared-feed.ts';

/* Processes that share the sources of a chain, over a bus and a lease that are those of Redis but for its failures. */

const MAX_AGE_MS = 8_000;
const SOURCES: readonly LiveSourceConfig[] = [
  { kind: 'builder-overrides', wsUrls: ['ws://a'], rpcUrls: [] },
  { kind: 'relayer', wsUrls: ['ws://b'], rpcUrls: [] },
];
const venueOf = (number: number): Address => `0x${'e7'.repeat(19)}${number.toString(16).padStart(2, '0')}`;
const hexOf = (value: number) => numberToHex(value, { size: 32 });

/** Of each venue, its word at a slot that all share, and at one of its own. */
const frameOf = (blockNumber: number, venues: Readonly<Record<number, number | null>>, isComplete = false): Frame => ({
  blockNumber: BigInt(blockNumber),
  timestamp: null,
  isComplete,
  venues: new Map(
    Object.entries(venues).map(([number, value]) => {
      const slots = [0, 1 + Number(number)].map((slot) => [hexOf(slot), hexOf(value ?? 0)] as const);
      return [venueOf(Number(number)), new Map(value === null ? [] : [[venueOf(0), new Map(slots)]])];
    }),
  ),
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const now = () => Date.now();

interface Process {
  readonly feed: LiveFeed;
  readonly shared: SharedFeed;
  /** What gives it a frame of each source, while it reads them. */
  readonly open: Map<LiveSourceConfig, (frame: Frame) => boolean>;
}

function startRedis() {
  const lease = { holder: '', until: 0 };
  let starts = 0;
  const processes = new Set<Process>();
  const sent: string[] = [];
  const findReader = async (id: string) => {
    if (now() >= lease.until) lease.holder = id;
    if (lease.holder !== id) return 'other';
    lease.until = now() + LEASE_MS;
    return 'own';
  };
  const start = (): Process => {
    const open: Process['open'] = new Map();
    const feed = new LiveFeed(
      { chainId: 1, blockTimeMs: 12_000, live: { maxAgeMs: MAX_AGE_MS, sources: [...SOURCES] } },
      {
        top: () => undefined,
        env: {},
        logger: createLogger('test', 'silent'),
        openSource: (config, onFrame) => {
          open.set(config, onFrame);
          return { close: () => open.delete(config) };
        },
        now,
        wallClock: now,
      },
    );
    const publish = (text: string) => {
      sent.push(text);
      for (const { shared } of processes) if (shared !== process.shared) shared.take(text);
    };
    starts += 1;
    const name = String(starts);
    const process: Process = {
      feed,
      open,
      shared: new SharedFeed({ feed, findReader: () => findReader(name), publish }),
    };
    processes.add(process);
    return process;
  };
  const stop = (process: Process): void => {
    processes.delete(process);
    process.feed.close();
  };
  /** Lets time pass in which processes do what is due. */
  const wait = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= RENEW_MS) {
      await vi.advanceTimersByTimeAsync(Math.min(left, RENEW_MS));
      for (const { shared } of processes) await shared.tick();
    }
  };
  /** A source sends a frame to who reads it. @returns whether anyone does */
  const send = (source: number, frame: Frame): boolean => {
    const readers = [...processes].flatMap(({ open }) => open.get(SOURCES[source] as LiveSourceConfig) ?? []);
    for (const give of readers) give(frame);
    return readers.length > 0;
  };
  return { processes, sent, start, stop, wait, send };
}

/** Slot by slot, the words of the venues. */
const wordsOf = (state: PendingOverrides | undefined): object | undefined =>
  state &&
  Object.fromEntries([...(state.overrides.get(venueOf(0)) ?? [])].map(([slot, word]) => [Number(slot), Number(word)]));

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

const venues = fc.dictionary(fc.constantFrom('1', '2', '3'), fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }), {
  maxKeys: 3,
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      source: fc.nat({ max: SOURCES.length - 1 }),
      blockNumber: fc.constantFrom(10, 10, 10, 11),
      venues,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 50, 250, 1_000, 4_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const) }) },
);

test('property: over frames, cancels and changes of the reader all processes know what one reader of all frames would', async () => {
  let [live, none, changes] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const redis = startRedis();
      const model = new FrameMerger(MAX_AGE_MS, now);
      for (const _ of [1, 2, 3]) redis.start();
      await redis.wait(RENEW_MS);
      /** When each source last sent each venue of a block. */
      const sentAt = new Map<string, number>();
      const isTooOldAt = (time: number) => sentAt.values().some((at) => time - at >= MAX_AGE_MS);
      for (const each of steps) {
        if (each.do === 'wait') await redis.wait(each.ms);
        if (each.do === 'frame') {
          const frame = frameOf(each.blockNumber, each.venues, each.source === 1);
          for (const venue of Object.keys(each.venues))
            sentAt.set(`${each.source} ${each.blockNumber} ${venue}`, now());
          if (redis.send(each.source, frame)) model.take({ id: String(each.source) }, frame);
        }
        if (each.do === 'change') {
          // A new reader does not know what was too old before: whoever repeats that says something new.
          if (isTooOldAt(now() + 3 * RENEW_MS + LEASE_MS)) break;
          // The others know what the reader said last.
          await redis.wait(RENEW_MS);
          const reader = [...redis.processes].find(({ feed }) => feed.isReading);
          if (reader) redis.stop(reader);
          await redis.wait(LEASE_MS + RENEW_MS);
          redis.start();
          await redis.wait(RENEW_MS);
          changes += 1;
        }
        const isNone = model.state(undefined) === undefined;
        if (!isNone) await redis.wait(RENEW_MS);
        const expected = model.state(undefined);
        if (expected) live += 1;
        else none += 1;
        for (const { feed } of redis.processes) expect(feed.state()).toEqual(expected);
      }
      for (const process of [...redis.processes]) redis.stop(process);
    }),
    { numRuns: runs(200) },
  );
  for (const count of [live, none, changes]) expect(count).toBeGreaterThan(100);
});
