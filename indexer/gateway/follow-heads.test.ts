import { type Hex, numberToHex } from 'viem';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HeadFeed } from '../../chain/head-feed/head-feed.ts';
import { startTestNode } from '../../chain/head-feed/test-node.fixture.ts';
import { createLogger } from '../../runtime/logger.ts';
import { followHeads } from './follow-heads.ts';
import type { HeadPace } from './next-follower.ts';

/** Nodes have every block. */
const HEADER = { number: 1n, hash: '0x1', timestamp: 0n, parents: [] } as const;
const PACE: HeadPace = { blockTimeMs: 1_000, retryMs: 250 };

const stops: (() => unknown)[] = [];

beforeEach(() => vi.useFakeTimers());
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** A chain whose blocks come every `blockMs`, and what a follower takes of it. */
function takerOf(blockMs: number) {
  const chain = { polls: 0, isDown: false, isPicky: false };
  const delays: number[] = [];
  const errors: unknown[] = [];
  const taken: string[] = [];
  const startedAt = performance.now();
  const age = () => performance.now() - startedAt;
  const taker = {
    poll: async () => {
      chain.polls += 1;
      if (chain.isDown) throw new Error('no node answers');
      const number = numberToHex(Math.floor(age() / blockMs));
      return { hash: number, number, timestamp: numberToHex(0) };
    },
    onBlock: ({ hash }: { hash: Hex }) => {
      if (taken.at(-1) !== hash) delays.push(age() - Number(hash) * blockMs);
      taken.push(hash);
    },
    onHeader: ({ number }: Readonly<Record<string, unknown>>) => {
      if (chain.isPicky) throw new Error('a field is missing');
      taken.push(String(number));
    },
    onError: (error: unknown) => errors.push(error),
  };
  return { chain, taker, taken, delays, errors };
}

test.each([950, 1_000, 1_040])(
  'blocks of %i ms cost little more than a look each, and are seen soon',
  async (blockMs) => {
    const { chain, taker, taken, delays } = takerOf(blockMs);
    const stop = followHeads(taker, PACE, undefined);
    await vi.advanceTimersByTimeAsync(100 * blockMs);
    expect(new Set(taken).size).toBeGreaterThanOrEqual(99);
    expect(chain.polls).toBeLessThanOrEqual(140);
    expect(delays.reduce((sum, delay) => sum + delay, 0) / delays.length).toBeLessThanOrEqual(200);
    stop();
    const { polls } = chain;
    await vi.advanceTimersByTimeAsync(100 * blockMs);
    expect(chain.polls).toBe(polls);
  },
);

test('failures are reported, and polls continue', async () => {
  const { chain, taker, taken, errors } = takerOf(1_000);
  chain.isDown = true;
  const stop = followHeads(taker, PACE, undefined);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(errors).toHaveLength(5);
  chain.isDown = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(taken.length).toBeGreaterThan(0);
  stop();
});

test('while a socket pushes heads there are no polls; after two block times without one, polls begin', async () => {
  const { node, clock, feed } = await feedOfNode();
  const { chain, taker, taken } = takerOf(1_000_000);
  const stop = followHeads(taker, { blockTimeMs: 20, retryMs: 10 }, feed);
  await vi.waitUntil(() => chain.polls > 0);
  node.pushHead(7);
  await vi.waitUntil(() => taken.includes('0x7'));
  const { polls } = chain;
  for (const number of [8, 9, 10]) {
    node.pushHead(number);
    await vi.waitUntil(() => taken.includes(numberToHex(number)));
  }
  // One may have been under way.
  expect(chain.polls).toBeLessThanOrEqual(polls + 1);
  clock.ms = 2_000;
  await vi.waitUntil(() => chain.polls > polls + 2);
  stop();
});

test('a socket whose headers Ponder cannot use is ignored, and polls continue', async () => {
  const { node, feed } = await feedOfNode();
  const { chain, taker, taken, errors } = takerOf(1_000_000);
  chain.isPicky = true;
  const stop = followHeads(taker, { blockTimeMs: 20, retryMs: 10 }, feed);
  await vi.waitUntil(() => chain.polls > 0);
  node.pushHead(7);
  await vi.waitUntil(() => errors.length > 0);
  const { polls } = chain;
  node.pushHead(8);
  await vi.waitUntil(() => chain.polls > polls + 2);
  expect([taken.includes('0x8'), errors.length]).toEqual([false, 1]);
  stop();
});

/** A feed of a node that has a subscriber; its clock stands still. */
async function feedOfNode() {
  vi.useRealTimers();
  const node = await startTestNode(1);
  const clock = { ms: 0 };
  const logger = createLogger('test', 'silent');
  const feed = new HeadFeed({
    chainId: 1,
    blockTimeMs: 1_000,
    wsUrls: [node.url],
    rpc: { header: async () => HEADER },
    count: () => undefined,
    logger,
    now: () => clock.ms,
    wallClock: Date.now,
  });
  stops.push(() => feed.close(), node.stop);
  await vi.waitUntil(() => node.subscribers() === 1);
  return { node, clock, feed };
}
