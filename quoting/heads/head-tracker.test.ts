import fc from 'fast-check';
import type { Hex } from 'viem';
import { afterEach, expect, test, vi } from 'vitest';
import type { BlockHeader } from '../../chain/chain-rpc.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail, UNKNOWN_HEIGHT } from './chain-tail.ts';
import { HeadTracker } from './head-tracker.ts';

type Head = { readonly block: BlockHeader };

/** Heights at which branches leave that of the letter before. */
const forks: Record<string, number> = {};

const hashOf = (number: number, fork: string): Hex =>
  fork === 'a' || number >= (forks[fork] ?? 0)
    ? `0x${fork}${number}`
    : hashOf(number, String.fromCharCode(fork.charCodeAt(0) - 1));

/** The block at a height of the branch that ends with this one. */
const ancestor = ({ block }: Head, height: bigint): Hex | undefined =>
  height > block.number ? undefined : hashOf(Number(height), block.hash.charAt(2));

const head = (number: number, fork = 'a'): Head => ({
  block: {
    number: BigInt(number),
    hash: hashOf(number, fork),
    timestamp: BigInt(number),
    parents: [hashOf(number - 1, fork)],
  },
});

/** A chain told by nodes that say what `heads` says; the first one is asked by default. */
function chainOf(blockTimeMs: number, maxAgeMs = Number.POSITIVE_INFINITY) {
  const chain = {
    ms: 0,
    wallMs: 0,
    heads: [head(1)],
    polls: 0,
    widePolls: 0,
    hasFailed: false,
    reportedAt: 0,
    down: false,
  };
  const report = () => {
    if (chain.down) throw new Error('no node answers');
    chain.reportedAt = chain.ms;
  };
  const source = {
    head: async () => {
      chain.polls += 1;
      report();
      const [first = head(0)] = chain.heads;
      return first;
    },
    heads: async () => {
      chain.widePolls += 1;
      report();
      return [...chain.heads];
    },
    header: async (hash: Hex, number: bigint) => {
      chain.hasFailed ||= chain.down;
      if (chain.down) throw new Error('no node answers');
      return head(Number(number), hash.charAt(2)).block;
    },
  };
  const tracker = new HeadTracker<Head>(source, {
    blockTimeMs,
    minRefreshMs: 500,
    maxAgeMs,
    now: () => chain.ms,
    wallClock: () => chain.wallMs,
  });
  const numberAt = async (ms: number) => {
    chain.ms = ms;
    return Number((await tracker.head()).block.number);
  };
  return { chain, tracker, numberAt };
}

afterEach(() => {
  vi.useRealTimers();
  for (const fork of Object.keys(forks)) delete forks[fork];
});

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('requests that ask at once share one look', async () => {
  const { chain, tracker } = chainOf(1_000);
  await Promise.all(Array.from({ length: 50 }, () => tracker.head()));
  expect(chain.polls).toBe(1);
});

test('looks depend on time, not on the number of requests', async () => {
  const { chain, tracker } = chainOf(200);
  for (chain.ms = 0; chain.ms < 10_000; chain.ms += 5) {
    await tracker.head();
    await settle();
  }
  expect(chain.polls).toBeLessThanOrEqual(20);
  expect(chain.polls).toBeGreaterThanOrEqual(18);
});

test('a slow chain is asked about four times a block, and a new block is seen within a second', async () => {
  const { chain, tracker } = chainOf(12_000);
  const delays: number[] = [];
  for (chain.ms = 0; chain.ms < 120_000; chain.ms += 20) {
    const produced = Math.floor(chain.ms / 12_000) + 1;
    chain.heads = [head(produced)];
    const shown = Number((await tracker.head()).block.number);
    await settle();
    if (shown < produced) delays.push(chain.ms - (produced - 1) * 12_000);
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
  expect(chain.polls).toBeLessThanOrEqual(45);
});

test('a head is not served beyond its time while the chain cannot be seen', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  expect(await numberAt(0)).toBe(1);
  chain.down = true;
  expect(await numberAt(999)).toBe(1);
  await settle();
  chain.ms = 1_001;
  expect(tracker.fresh()).toBeUndefined();
  await expect(tracker.head()).rejects.toThrow('no node answers');
  chain.down = false;
  chain.heads = [head(2)];
  expect(await numberAt(1_100)).toBe(2);
});

test('a node that lags never takes the head back', async () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  expect(await numberAt(0)).toBe(10);
  chain.heads = [head(7)];
  for (let ms = 1_000; ms < 9_000; ms += 500) expect(await numberAt(ms)).toBe(10);
});

test('another hash at a height that was seen is a reorg: the head follows it, even down', async () => {
  forks.b = 9;
  const { chain, numberAt } = chainOf(1_000);
  for (const number of [8, 9, 10]) {
    chain.heads = [head(number)];
    await numberAt(number * 2_000);
  }
  chain.heads = [head(9, 'b')];
  expect(await numberAt(30_000)).toBe(9);
  chain.heads = [head(10, 'b')];
  expect(await numberAt(32_000)).toBe(10);
});

test('another hash at the same height is followed too', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  await numberAt(0);
  chain.heads = [head(1, 'b')];
  await numberAt(2_000);
  expect(tracker.current?.block.hash).toBe('0xb1');
});

test('a chain that stays behind for long was rolled back', async () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  await numberAt(0);
  chain.heads = [head(6)];
  expect(await numberAt(2_000)).toBe(10);
  expect(await numberAt(11_999)).toBe(10);
  expect(await numberAt(13_000)).toBe(6);
});

test('when the first node is stuck and a block is overdue, the highest of all nodes counts', async () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(5), head(5), head(5)];
  expect(await numberAt(0)).toBe(5);
  chain.heads = [head(5), head(8), head(7)];
  expect(await numberAt(1_000)).toBe(5);
  expect(await numberAt(2_600)).toBe(8);
});

test('a rejected head gives way to the last one that was read at', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  await numberAt(0);
  chain.heads = [head(1_000_000, 'f')];
  await numberAt(2_000);
  tracker.reject(await tracker.head());
  expect(tracker.current?.block.number).toBe(1n);
  expect(tracker.fresh()).toBeUndefined();
  chain.heads = [head(2)];
  expect(await numberAt(2_001)).toBe(2);
});

const settleTimers = () => vi.advanceTimersByTimeAsync(0);

/** Heads as a listener hears of them, by name of the block: `a1`, or `a1 from 1` when blocks were replaced. */
function heardFrom(tracker: HeadTracker<Head>): string[] {
  const heard: string[] = [];
  let last = ChainTail.EMPTY;
  tracker.onHead(({ block }, branch) => {
    const from = last.replacedFrom(branch);
    last = branch;
    heard.push(block.hash.slice(2) + (from === null ? '' : ` from ${from}`));
  });
  return heard;
}

test('a listener hears of each head that is taken, and from where blocks were replaced', async () => {
  forks.b = 2;
  const { chain, tracker, numberAt } = chainOf(1_000);
  const heard = heardFrom(tracker);
  await numberAt(0);
  for (const [ms, number, fork] of [
    [1_000, 2, 'a'],
    [2_000, 3, 'a'],
    [3_000, 3, 'a'],
    [5_000, 2, 'b'],
    [6_000, 4, 'b'],
  ] as const) {
    chain.heads = [head(number, fork)];
    await numberAt(ms);
    await settle();
  }
  expect(heard).toEqual(['a1', 'a2', 'a3', 'b2 from 2', 'b4']);
});

test('a chain that was rolled back is reported as replaced above its new head', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  const heard = heardFrom(tracker);
  for (const number of [5, 6, 7]) {
    chain.heads = [head(number)];
    await numberAt(number * 2_000);
  }
  chain.heads = [head(5)];
  await numberAt(16_000);
  await numberAt(27_000);
  expect(heard).toEqual(['a5', 'a6', 'a7', 'a5 from 6']);
});

test('a head at which nodes refused reads is reported as replaced when another takes its place', async () => {
  forks.b = 2;
  const { chain, tracker, numberAt } = chainOf(1_000);
  const heard = heardFrom(tracker);
  await numberAt(0);
  chain.heads = [head(2, 'b')];
  await numberAt(2_000);
  tracker.reject(await tracker.head());
  chain.heads = [head(2)];
  await numberAt(2_001);
  expect(heard).toEqual(['a1', 'b2', 'a2 from 2']);
});

test('while heads are pushed the chain is not asked, and half a second after a block is missing it is', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  for (let number = 1; number <= 20; number += 1) {
    chain.ms = number * 1_000;
    tracker.push(head(number));
    expect(await numberAt(number * 1_000 + 900)).toBe(number);
  }
  await settle();
  expect(chain.polls).toBe(0);
  chain.heads = [head(23)];
  expect(await numberAt(21_500)).toBe(20);
  await settle();
  expect(tracker.current?.block.number).toBe(23n);
  // It is back, with a head that was looked up already.
  tracker.push(head(23));
  expect(await numberAt(22_900)).toBe(23);
  expect(chain.polls).toBe(1);
});

test('a head that is pushed too early is taken when its time has come, and shows what was replaced meanwhile', async () => {
  forks.b = 7;
  const { chain, tracker, numberAt } = chainOf(1_000);
  const heard = heardFrom(tracker);
  tracker.push(head(7));
  for (const [ms, number, fork] of [
    [100, 8, 'a'],
    [200, 7, 'b'],
    [300, 9, 'b'],
    [400, 8, 'b'],
  ] as const) {
    chain.ms = ms;
    tracker.push(head(number, fork));
  }
  await settle();
  expect(await numberAt(499)).toBe(7);
  expect(await numberAt(500)).toBe(9);
  expect(heard).toEqual(['a7', 'b9 from 7']);
});

test('a socket that lags never takes the head back', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  chain.heads = [head(100)];
  await numberAt(0);
  for (chain.ms = 0; chain.ms < 30_000; chain.ms += 1_000) tracker.push(head(50 + chain.ms / 1_000));
  expect(tracker.current?.block.number).toBe(100n);
});

test('a head that waited in a socket counts by the age of its block', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  chain.wallMs = 20_500;
  tracker.push(head(20));
  expect([await numberAt(1_400), chain.polls]).toEqual([20, 0]);
  // The process was paused for ten seconds, and reads what came meanwhile.
  chain.ms += 10_000;
  chain.wallMs += 10_000;
  chain.heads = [head(30)];
  for (const number of [21, 22, 23]) tracker.push(head(number));
  expect(tracker.fresh()).toBeUndefined();
  expect(Number((await tracker.head()).block.number)).toBe(30);
});

test('a block that is older than is allowed is not given, and asking for it does not make looks more frequent', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000, 10_000);
  chain.wallMs = 14_999;
  chain.heads = [head(5)];
  expect(await numberAt(0)).toBe(5);
  chain.wallMs = 15_001;
  expect([tracker.fresh(), tracker.known, tracker.told]).toEqual([undefined, undefined, tracker.current]);
  for (chain.ms = 1; chain.ms < 2_000; chain.ms += 10) await expect(tracker.head()).rejects.toThrow('too old');
  expect(chain.polls).toBeLessThanOrEqual(4);
  chain.heads = [head(15)];
  expect(await numberAt(2_600)).toBe(15);
});

test('a tracker that is watched sees heads without a request, continues after failures, and ends with its last watcher', async () => {
  vi.useFakeTimers();
  const { chain, tracker } = chainOf(1_000);
  const advance = async (ms: number) => {
    for (const end = chain.ms + ms; chain.ms < end; ) {
      chain.ms += 50;
      chain.heads = [head(Math.floor(chain.ms / 1_000))];
      await vi.advanceTimersByTimeAsync(50);
    }
  };
  const stops = [tracker.watch(), tracker.watch()];
  await advance(5_400);
  expect(tracker.current?.block.number).toBe(5n);
  chain.down = true;
  const polls = chain.polls;
  await advance(5_000);
  expect(chain.polls - polls).toBeLessThanOrEqual(10);
  chain.down = false;
  await advance(1_000);
  expect(tracker.current?.block.number).toBe(11n);
  stops[0]?.();
  await advance(1_000);
  expect(tracker.current?.block.number).toBe(12n);
  stops[1]?.();
  expect(vi.getTimerCount()).toBe(0);
});

const step = fc.record({
  wait: fc.integer({ min: 0, max: 1_500 }),
  mined: fc.integer({ min: 0, max: 2 }),
  replaced: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  does: fc.constantFrom('push', 'ask', 'lag', 'fail', 'reject', 'nothing'),
});

test('a block that replaced the one before a rejected head is taken, also at its height', async () => {
  const { chain, tracker } = chainOf(1_000);
  for (const number of [2, 3, 4]) {
    chain.ms += 500;
    tracker.push(head(number));
  }
  chain.ms += 2_500;
  chain.heads = [head(2, 'b')];
  await tracker.head();
  expect(tracker.current?.block.hash).toBe('0xb2');
  tracker.reject(head(2, 'b'));
  expect(tracker.current?.block.hash).toBe('0xa4');
  chain.ms += 1_000;
  chain.heads = [head(4, 'c')];
  expect((await tracker.head()).block.hash).toBe('0xc4');
});

test('property: heads keep their distance and age, and go back only with the chain, from the height at which branches part', async () => {
  vi.useFakeTimers();
  const blockTimeMs = 1_000;
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { maxLength: 60 }), async (isWatched, steps) => {
      vi.clearAllTimers();
      const { chain, tracker } = chainOf(blockTimeMs);
      const blocks = [head(1)];
      let fork = 'a';
      let takenAt = Number.NEGATIVE_INFINITY;
      let last = head(0);
      let first: bigint | undefined;
      let lastBranch = ChainTail.EMPTY;
      tracker.onHead((next, branch) => {
        const from = lastBranch.replacedFrom(branch);
        lastBranch = branch;
        expect(chain.ms - takenAt).toBeGreaterThanOrEqual(500);
        // Its parent is known too.
        first ??= next.block.number - 1n;
        let replaced: bigint | null = null;
        for (let height = last.block.number; height > 0n; height -= 1n) {
          if (ancestor(last, height) !== ancestor(next, height)) replaced = height;
        }
        // What lies below the first head may be known, as parents of later ones.
        if (!chain.hasFailed || from !== UNKNOWN_HEIGHT) {
          expect(from === null).toBe(replaced === null);
          expect(from ?? 0n).toBeGreaterThanOrEqual(replaced ?? 0n);
          expect(from ?? 0n).toBeLessThanOrEqual(maxBigint(replaced ?? 0n, first));
        }
        chain.hasFailed = false;
        takenAt = chain.ms;
        last = next;
      });
      const stop = isWatched ? tracker.watch() : () => undefined;
      for (const { wait, mined, replaced, does } of steps) {
        for (const end = chain.ms + wait; chain.ms < end; ) {
          const part = Math.min(50, end - chain.ms);
          chain.ms += part;
          await vi.advanceTimersByTimeAsync(part);
        }
        if (replaced > 0) {
          fork = String.fromCharCode(fork.charCodeAt(0) + 1);
          blocks.splice(Math.max(1, blocks.length - replaced));
          forks[fork] = blocks.length + 1;
        }
        for (let i = replaced > 0 ? -1 : 0; i < mined; i += 1) blocks.push(head(blocks.length + 1, fork));
        const newest = blocks.at(-1) ?? head(1);
        chain.heads = [does === 'lag' ? (blocks.at(-3) ?? newest) : newest];
        chain.down = does === 'fail';
        if (does === 'push') {
          chain.reportedAt = chain.ms;
          tracker.push(newest);
        }
        if (does === 'reject' && tracker.current && tracker.current.block.hash !== newest.block.hash) {
          tracker.reject(tracker.current);
          takenAt = Number.NEGATIVE_INFINITY;
        }
        if (does === 'ask' || does === 'lag') await tracker.head();
        const used = tracker.fresh();
        if (used) expect(chain.ms - chain.reportedAt).toBeLessThanOrEqual(blockTimeMs + 1_000);
        await settleTimers();
      }
      // Once the chain stands still, everyone gets to its head.
      chain.down = false;
      chain.heads = [blocks.at(-1) ?? head(1)];
      chain.ms += 20_000;
      await tracker.head();
      await settleTimers();
      chain.ms += 20_000;
      expect((await tracker.head()).block.hash).toBe(chain.heads[0]?.block.hash);
      stop();
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: runs(60) },
  );
});
