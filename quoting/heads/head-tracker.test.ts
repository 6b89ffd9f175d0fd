import fc from 'fast-check';
import type { Hex } from 'viem';
import { afterEach, expect, test, vi } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { HeadTracker } from './head-tracker.ts';
import { blockOf, forgetForks, forks, type Head, head, namesOfHeads } from './test-chain.fixture.ts';

/** A chain told by nodes that say what `heads` says; the first one is asked by default. */
function chainOf(blockTimeMs: number, maxAgeMs = Number.POSITIVE_INFINITY) {
  const chain = { ms: 0, wallMs: 0, heads: [head(1)], polls: 0, isDown: false };
  const answer = <T>(value: T): T => {
    if (chain.isDown) throw new Error('no node answers');
    return value;
  };
  const source = {
    head: async () => {
      chain.polls += 1;
      return answer(chain.heads[0] ?? head(0));
    },
    otherHeads: async () => answer(chain.heads.slice(1)),
    header: async (hash: Hex, number: bigint) => answer(blockOf(hash, number)),
  };
  const now = () => chain.ms;
  const wallClock = () => chain.wallMs;
  const tracker = new HeadTracker<Head>(source, { blockTimeMs, minRefreshMs: 500, maxAgeMs, now, wallClock });
  const numberAt = async (ms: number) => {
    chain.ms = ms;
    return Number((await tracker.head()).block.number);
  };
  return { chain, tracker, numberAt };
}

/** A tracker whose timers follow its clock. */
function watchedChain() {
  vi.useFakeTimers();
  const world = chainOf(1_000);
  const advance = async (ms: number) => {
    for (const end = world.chain.ms + ms; world.chain.ms < end; ) {
      const part = Math.min(50, end - world.chain.ms);
      world.chain.ms += part;
      await vi.advanceTimersByTimeAsync(part);
    }
  };
  return { ...world, advance };
}

afterEach(() => {
  vi.useRealTimers();
  forgetForks();
});

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('requests that ask at once share one poll', async () => {
  const { chain, tracker } = chainOf(1_000);
  await Promise.all(Array.from({ length: 50 }, () => tracker.head()));
  expect(chain.polls).toBe(1);
});

test('a head is not served beyond its time while the chain cannot be seen', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  expect(await numberAt(0)).toBe(1);
  chain.isDown = true;
  expect(await numberAt(999)).toBe(1);
  await settle();
  chain.ms = 1_001;
  expect(tracker.fresh()).toBeUndefined();
  await expect(tracker.head()).rejects.toThrow('no node answers');
  chain.isDown = false;
  chain.heads = [head(2)];
  expect(await numberAt(1_100)).toBe(2);
});

test('when the first node is stuck and a block is overdue, a request gets the highest head of all nodes', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000);
  expect(await numberAt(0)).toBe(1);
  chain.heads = [head(1), head(8), head(7)];
  expect(await numberAt(2_600)).toBe(8);
  tracker.reject(head(8));
  expect(tracker.current?.block.number).toBe(1n);
});

test('a listener gets each head that is taken, and from where blocks were replaced, as far as nodes give blocks below', async () => {
  forks.b = 7;
  forks.c = 8;
  const { chain, tracker, numberAt } = chainOf(1_000);
  const names: string[] = [];
  const nameOf = namesOfHeads();
  tracker.onHead((taken, branch) => names.push(nameOf(taken, branch)));
  tracker.push(head(7));
  chain.ms = 600;
  tracker.push(head(9, 'b'));
  await settle();
  chain.ms = 700;
  tracker.pushShared(head(8, 'c'));
  tracker.push(head(10, 'c'));
  chain.isDown = true;
  await settle();
  expect(await numberAt(1_200)).toBe(10);
  expect(names).toEqual(['a7', 'b9 from 7', 'c10 from 0']);
});

test('a block that is older than is allowed is not given, and asking for it does not make polls more frequent', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000, 10_000);
  chain.wallMs = 14_999;
  chain.heads = [head(5)];
  expect(await numberAt(0)).toBe(5);
  chain.wallMs = 15_001;
  expect([tracker.fresh(), tracker.announced]).toEqual([undefined, tracker.current]);
  for (chain.ms = 1; chain.ms < 2_000; chain.ms += 10) await expect(tracker.head()).rejects.toThrow('too old');
  expect(chain.polls).toBeLessThanOrEqual(4);
  chain.heads = [head(15)];
  expect(await numberAt(2_600)).toBe(15);
});

test('a tracker that is watched sees heads without a request, continues after failures, and ends with its last watcher', async () => {
  const { chain, tracker, advance } = watchedChain();
  const stops = [tracker.watch(), tracker.watch()];
  const mined = async (number: number) => {
    chain.heads = [head(number)];
    await advance(1_200);
    return Number(tracker.current?.block.number);
  };
  expect(await mined(5)).toBe(5);
  chain.isDown = true;
  const { polls } = chain;
  expect([await mined(6), chain.polls - polls <= 3]).toEqual([5, true]);
  chain.isDown = false;
  expect(await mined(11)).toBe(11);
  stops[0]?.();
  expect(await mined(12)).toBe(12);
  stops[1]?.();
  expect(vi.getTimerCount()).toBe(0);
});

test('property: whatever is pushed, asked and watched, all get to the head of a chain that stands still, without a timer', async () => {
  const does = fc.constantFrom('push', 'ask', 'fail', 'watch', 'unwatch', 'nothing');
  const step = fc.record({ wait: fc.integer({ min: 0, max: 1_500 }), mined: fc.integer({ min: 0, max: 3 }), does });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      vi.useRealTimers();
      const { chain, tracker, advance } = watchedChain();
      const stops: (() => void)[] = [];
      let newest = 1;
      for (const { wait, mined, does } of steps) {
        await advance(wait);
        newest += mined;
        chain.heads = [head(newest)];
        chain.isDown = does === 'fail';
        if (does === 'push') tracker.push(head(newest));
        if (does === 'ask') {
          const before = tracker.current;
          const asked = await tracker.head();
          // A block that was looked up may be taken meanwhile.
          expect([before, tracker.current]).toContain(asked);
        }
        if (does === 'watch') stops.push(tracker.watch());
        if (does === 'unwatch') stops.pop()?.();
      }
      chain.isDown = false;
      await advance(2_000);
      expect((await tracker.head()).block.number).toBe(BigInt(newest));
      for (const stop of stops) stop();
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: runs(30) },
  );
});

test('a listener may ask for the head while a slow poll ends: all who wait get one', async () => {
  const { chain, tracker } = chainOf(1_000);
  const asked: Promise<Head>[] = [];
  tracker.onHead(() => asked.push(tracker.head()));
  const first = tracker.head();
  chain.ms = 2_000; // The poll took so long that the next one is due when it ends.
  expect(await first).toBe(tracker.current);
  expect(await Promise.all(asked)).toEqual([tracker.current]);
});

test('a head that is too old is not renewed for those who do not wait', async () => {
  const { chain, tracker, numberAt } = chainOf(1_000, 10_000);
  chain.wallMs = 14_999;
  chain.heads = [head(5)];
  expect(await numberAt(0)).toBe(5);
  chain.wallMs = 15_001;
  const { polls } = chain;
  for (chain.ms = 500; chain.ms < 1_000; chain.ms += 10) expect(tracker.fresh()).toBeUndefined();
  expect(chain.polls).toBe(polls);
});

test('a request waits for a block that another process took, for two seconds once', async () => {
  const { chain, tracker, advance } = watchedChain();
  await tracker.head();
  expect([tracker.isBehind, await tracker.caughtUp()]).toEqual([false, false]);
  tracker.hear('another', 2n);
  expect(tracker.isBehind).toBe(true);
  const reached = tracker.caughtUp();
  await advance(600);
  chain.heads = [head(1), head(2)];
  await advance(600);
  expect([await reached, tracker.current?.block.number]).toEqual([true, 2n]);
  tracker.hear('another', 3n);
  const waited = tracker.caughtUp();
  await advance(2_000);
  expect(await waited).toBe(false);
  tracker.hear('another', 4n);
  const notWaited = tracker.caughtUp();
  await advance(1);
  expect([await notWaited, tracker.current?.block.number]).toEqual([false, 2n]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a request waits no longer once the other process takes its block back', async () => {
  const { tracker, advance } = watchedChain();
  await tracker.head();
  tracker.hear('another', 6n);
  const waited = tracker.caughtUp();
  await advance(100);
  tracker.hear('another', 1n);
  await advance(1);
  expect(await waited).toBe(false);
});

test('a request waits until other processes know of the head, if there are any', async () => {
  const { tracker } = chainOf(12_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  tracker.onHead(() => promise);
  await tracker.head();
  expect(await tracker.caughtUp()).toBe(false);
  tracker.hear('another', 1n);
  const waited = tracker.caughtUp();
  expect(
    await Promise.race([
      waited,
      settle()
        .then(settle)
        .then(() => 'waits'),
    ]),
  ).toBe('waits');
  resolve();
  expect([await waited, tracker.isBehind]).toEqual([false, false]);
});

test('the end of a watch counts once', async () => {
  const { chain, tracker, advance } = watchedChain();
  const stops = [tracker.watch(), tracker.watch()];
  stops[0]?.();
  stops[0]?.();
  const { polls } = chain;
  await advance(2_000);
  expect(chain.polls).toBeGreaterThan(polls);
  stops[1]?.();
  expect(vi.getTimerCount()).toBe(0);
});
