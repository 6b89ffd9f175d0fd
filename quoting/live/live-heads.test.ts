import fc from 'fast-check';
import { numberToHex } from 'viem';
import { afterEach, expect, test, vi } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { HeadTracker } from '../heads/head-tracker.ts';
import type { Frame } from './frame.ts';
import { FrameMerger } from './frame-merger.fixture.ts';
import { LiveHeads } from './live-heads.ts';

const BLOCK_MS = 2_000;
const MAX_AGE_MS = 1_300;
const ACCOUNT = `0x${'0a'.repeat(20)}` as const;
const TOKEN = `0x${'0b'.repeat(20)}` as const;
const VENUE = `0x${'0c'.repeat(20)}` as const;
const word = (value: number) => numberToHex(value, { size: 32 });

const header = (number: number, fork: number): BlockHeader => ({
  number: BigInt(number),
  hash: word(1_000 * fork + number),
  parents: [word(1_000 * fork + number - 1)],
  timestamp: BigInt(number * 2),
});

afterEach(() => vi.useRealTimers());

/** A chain whose node pushes heads, and one source of pending state. */
function liveChain() {
  vi.useFakeTimers();
  const now = () => vi.getMockedSystemTime()?.getTime() ?? 0;
  vi.setSystemTime(1_000_000);
  const known = new Map<string, BlockHeader>();
  const chain = { head: header(1, 0), fork: 0 };
  const tracker = new HeadTracker<ReportedHead>(
    {
      head: async () => ({ block: chain.head, endpoint: null }),
      heads: async () => [{ block: chain.head, endpoint: null }],
      header: async (hash) => known.get(hash) ?? Promise.reject(new Error('unknown')),
    },
    { blockTimeMs: BLOCK_MS, minRefreshMs: 1, now, wallClock: () => 0 },
  );
  const merger = new FrameMerger(MAX_AGE_MS, now);
  const listeners = new Set<() => void>();
  const suspensions: unknown[] = [];
  const lookUps = { count: 0 };
  const live = { maxAgeMs: MAX_AGE_MS, sources: [{ kind: 'own' as const }] };
  const heads = new LiveHeads(
    { chainId: 1, blockTimeMs: BLOCK_MS, live },
    {
      committed: tracker,
      feed: {
        state: () => merger.state(tracker.top),
        onFrame: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      protectedAccounts: () => {
        lookUps.count += 1;
        return new Set([TOKEN]);
      },
      observer: { count: () => undefined, skipped: () => undefined, suspended: () => suspensions.push('counted') },
      logger: { warn: (fields: object) => suspensions.push(fields) },
      now,
    },
  );
  const push = async (number: number, fork: number) => {
    chain.head = header(number, fork);
    known.set(chain.head.hash, chain.head);
    tracker.push({ block: chain.head, endpoint: null });
    await vi.advanceTimersByTimeAsync(2);
  };
  const take = (blockNumber: number, venues: Frame['venues']) => {
    merger.take(
      { id: 'source' },
      { blockNumber: BigInt(blockNumber), timestamp: null, venues, isComplete: false },
      tracker.top,
    );
    for (const listener of listeners) listener();
  };
  const frame = (blockNumber: number, value: number) => {
    const slots = new Map([[word(1), word(value)]]);
    take(blockNumber, new Map([[VENUE, new Map([ACCOUNT, TOKEN].map((account) => [account, slots]))]]));
  };
  const cancel = (blockNumber: number) => take(blockNumber, new Map([[VENUE, new Map()]]));
  return { now, chain, tracker, heads, merger, push, frame, cancel, suspensions, lookUps };
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('block' as const), by: fc.integer({ min: -1, max: 2 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      ahead: fc.integer({ min: -2, max: 4 }),
      value: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 900 }) }) },
);

test('whatever comes, a block being built is the next one or that after it, on the head, and its overrides are young', async () => {
  let [live, committed, after] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const world = liveChain();
      const { heads, tracker, chain, push, frame, now } = world;
      const announced: ReportedHead[] = [];
      heads.onHead((head) => announced.push(head));
      const stopWatching = heads.watch();
      await push(10, 0);
      /** The highest block that was given as being built since the committed head last went back. */
      let highest = 0n;
      let last: BlockHeader | undefined;
      const takeHead = (block: BlockHeader | undefined) => {
        if (block && last && block.hash !== last.hash && block.number <= last.number) highest = 0n;
        last = block;
      };
      // A step may take several heads.
      tracker.onHead(({ block }) => takeHead(block));
      takeHead(tracker.current?.block);
      /** When each value last came for each block. */
      const sent = new Map<string, number>();
      for (const each of steps) {
        if (each.do === 'wait') await vi.advanceTimersByTimeAsync(each.ms);
        if (each.do === 'block') {
          if (each.by <= 0) chain.fork += 1;
          await push(Number(chain.head.number) + each.by, chain.fork);
        }
        if (each.do === 'frame') {
          const number = Number(chain.head.number) + each.ahead;
          sent.set(`${number} ${word(each.value)}`, now());
          frame(number, each.value);
        }
        tracker.fresh();
        takeHead(tracker.current?.block);
        for (const head of [
          heads.current,
          heads.announced,
          heads.fresh(),
          announced.at(-1) === heads.current ? announced.at(-1) : undefined,
        ]) {
          const block = head?.block;
          if (!block) continue;
          expect(block.hash).toBe(tracker.current?.block.hash);
          const { pending } = block;
          if (!pending) {
            committed += 1;
            continue;
          }
          if (pending.blockNumber === block.number + 2n) after += 1;
          expect(pending.blockNumber).toBeGreaterThanOrEqual(highest);
          highest = pending.blockNumber;
          live += 1;
          expect([1n, 2n]).toContain(pending.blockNumber - block.number);
          expect(pending.timestamp).toBe(block.timestamp + 2n * (pending.blockNumber - block.number));
          expect([...pending.overrides.keys()]).toEqual([ACCOUNT]);
          const value = pending.overrides.get(ACCOUNT)?.get(word(1));
          const sentAt = sent.get(`${pending.blockNumber} ${value}`) ?? Number.NEGATIVE_INFINITY;
          expect(now() - sentAt).toBeLessThan(MAX_AGE_MS);
          expect(heads.isTooOld(block)).toBe(false);
        }
      }
      stopWatching();
    }),
    { numRuns: runs(100) },
  );
  expect(live).toBeGreaterThan(500);
  expect(committed).toBeGreaterThan(500);
  expect(after).toBeGreaterThan(50);
});

test('listeners get overrides of a block at most four times a second, the newest, and the committed head when they end', async () => {
  const { heads, push, frame } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  for (let value = 1; value <= 20; value += 1) {
    frame(11, value);
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(announced.length).toBeLessThanOrEqual(6);
  await vi.advanceTimersByTimeAsync(300);
  expect(announced.at(-1)).toBe(word(20));
  await vi.advanceTimersByTimeAsync(MAX_AGE_MS);
  expect(announced.at(-1)).toBeUndefined();
});

test('a change after frames that change nothing is passed on at once', async () => {
  const { heads, push, frame } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  frame(11, 1);
  for (let repeat = 0; repeat < 10; repeat += 1) {
    await vi.advanceTimersByTimeAsync(100);
    frame(11, 1);
  }
  frame(11, 2);
  expect(announced.at(-1)).toBe(word(2));
});

test('listeners hear that overrides ended which only a request saw', async () => {
  const { heads, push, frame, cancel } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  frame(11, 1);
  expect((await heads.head()).block.pending?.blockNumber).toBe(11n);
  cancel(11);
  await vi.advanceTimersByTimeAsync(300);
  expect(announced).toEqual([undefined, undefined]);
});

test('a request tells listeners nothing, also where a busy process is late to', async () => {
  const { heads, push, frame, now } = liveChain();
  const announced: (string | undefined)[] = [];
  heads.onHead(({ block }) => announced.push(block.pending?.overrides.get(ACCOUNT)?.get(word(1))));
  heads.watch();
  await push(10, 0);
  frame(11, 1);
  vi.setSystemTime(now() + 1_000);
  expect(heads.current?.block.pending?.blockNumber).toBe(11n);
  expect(announced).toEqual([undefined]);
  await vi.advanceTimersByTimeAsync(300);
  expect(announced).toEqual([undefined, word(1)]);
});

test('protected accounts are looked for only while there are overrides', async () => {
  const { heads, push, frame, lookUps } = liveChain();
  await push(10, 0);
  expect(heads.current?.block.pending).toBeUndefined();
  expect(lookUps.count).toBe(0);
  frame(11, 1);
  expect(heads.current?.block.pending).toBeDefined();
  expect(lookUps.count).toBeGreaterThan(0);
});

test('a new head replaces the block being built at once', async () => {
  const { heads, push, frame } = liveChain();
  await push(10, 0);
  frame(11, 1);
  const before = heads.current?.block;
  expect(before?.pending?.blockNumber).toBe(11n);
  await push(11, 0);
  expect(heads.current?.block.pending).toBeUndefined();
  expect(before && heads.isTooOld(before)).toBe(true);
});

test('a frame that names a block one too high costs nothing, and no older block is given after one that was given', async () => {
  const { heads, push, frame } = liveChain();
  await push(10, 0);
  const shown = () => heads.current?.block.pending?.blockNumber;
  for (let value = 1; value <= 20; value += 1) {
    frame(value % 3 ? 11 : 12, value);
    expect(shown()).toBe(11n);
    await vi.advanceTimersByTimeAsync(100);
  }
  // The head is late: sources build the block after the next one.
  for (let value = 1; value <= 30; value += 1) {
    frame(12, value);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(shown()).toBe(12n);
  frame(11, 1);
  expect(shown()).toBeUndefined();
  await push(11, 0);
  expect(shown()).toBe(12n);
  await push(11, 1);
  frame(12, 2);
  expect(shown()).toBe(12n);
  await push(10, 2);
  frame(11, 3);
  expect(shown()).toBe(11n);
});

test('after nodes ignored the overrides quotes are committed for a while, and one failure is counted and logged', async () => {
  const { heads, push, frame, suspensions } = liveChain();
  await push(10, 0);
  frame(11, 1);
  const head = heads.current as ReportedHead;
  const failure = new RpcFailure('ignored', 'a node ignores overrides');
  for (const _ of [1, 2]) heads.suspend(head, failure);
  heads.suspend(head, new RpcFailure('timeout', 'a node is slow'));
  expect(suspensions).toEqual(['counted', { err: failure }]);
  expect(heads.current?.block.pending).toBeUndefined();
  await vi.advanceTimersByTimeAsync(60_000);
  frame(11, 2);
  expect(heads.current?.block.pending?.blockNumber).toBe(11n);
});
