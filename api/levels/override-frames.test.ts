import type { Address, Hex } from 'viem';
import { beforeEach, expect, test, vi } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { createLogger } from '../../runtime/logger.ts';
import { stopTime } from '../../test/harness/stopped-time.ts';
import { decodeBuilderOverrides } from '../../test/takers/decoders.ts';
import { FrameFeeds } from './frame-feed.ts';
import { OverrideFrames } from './override-frames.ts';
import type { LevelsChain } from './write-levels.ts';

beforeEach(stopTime);

const VENUE: Address = `0x${'01'.repeat(20)}`;
const hash: Hex = `0x${'07'.repeat(32)}`;
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const committed = { number: 7n, hash, timestamp: 84n, parents: [] } as unknown as BlockRef;
/** A block that is being built, in which a venue may have a word. */
function pendingOf(value: number, blockNumber = 8n): BlockRef {
  const republished = new Map([[VENUE, new Map([[VENUE, new Map([[word(1), word(value)]])]])]]);
  const pending = {
    blockNumber,
    timestamp: 12n * blockNumber,
    overrides: new Map(),
    republished,
    digest: `${value}`,
    receivedAt: 0,
  };
  return { ...committed, pending };
}

/** Frames of a chain whose head the test sets, read over a time. */
async function startWorld() {
  let [now, block]: [number, BlockRef | null] = [0, committed];
  let named = 8n;
  const changes = new Set<() => void>();
  const heads = {
    top: 7n,
    isPassed: false,
    caughtUp: async () => false,
    fresh: () => (block ? { block } : undefined),
    onHead: (changed: () => void) => {
      changes.add(changed);
      return () => changes.delete(changed);
    },
    watch: () => () => undefined,
  };
  const chain = { chainId: 7, blockTimeMs: 12_000, heads } as unknown as LevelsChain;
  const feeds = new FrameFeeds(createLogger('test', 'silent'), () => now);
  const frames = new OverrideFrames(chain, feeds, async () => 1_794_999_975_000 + now);
  const sent: { readonly at: number; readonly words: number }[] = [];
  let endedAt: number | null = null;
  const feed = await frames.open('builder', []);
  const leave = feed({
    isReady: true,
    take: ({ frame }) => {
      const { blockNumber, venues } = decodeBuilderOverrides(frame.toString());
      expect(blockNumber).toBe(named);
      sent.push({ at: now, words: Number(venues.get(VENUE)?.[VENUE]?.[word(1)] ?? 0) });
    },
    onSilence: () => {
      endedAt = now;
    },
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10) {
      now += 10;
      await vi.advanceTimersByTimeAsync(10);
    }
    return sent.splice(0);
  };
  const become = (next: BlockRef | null) => {
    block = next;
    for (const changed of changes) changed();
  };
  const name = (number: bigint) => {
    named = number;
  };
  return { heads, feeds, frames, pass, become, name, leave, endedAt: () => endedAt };
}

const gapsOf = (sent: readonly { readonly at: number }[]) =>
  sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));

test('while nothing is live, an empty frame comes each second', async () => {
  const { pass } = await startWorld();
  const sent = await pass(10_000);
  expect(sent.map(({ words }) => words)).toEqual(sent.map(() => 0));
  expect(sent.length).toBeGreaterThanOrEqual(10);
  expect(Math.max(...gapsOf(sent))).toBeLessThanOrEqual(1_000);
});

test('while a venue is live, a frame comes at each change, and each 400 ms', async () => {
  const { pass, become } = await startWorld();
  await pass(500);
  become(pendingOf(1));
  expect(await pass(10)).toEqual([{ at: 510, words: 1 }]);
  const calm = await pass(4_000);
  expect(Math.max(...gapsOf(calm))).toBeLessThanOrEqual(400);
  expect(calm.length).toBeGreaterThanOrEqual(10);
  for (let price = 2; price < 12; price++) {
    become(pendingOf(price));
    expect((await pass(100)).map(({ words }) => words)).toContain(price);
  }
  become(committed);
  expect((await pass(100)).at(-1)?.words).toBe(0);
  expect((await pass(5_000)).length).toBeLessThanOrEqual(6);
});

test('overrides of a block never go out under the number of a later one, which another process or source has named', async () => {
  const { heads, pass, become, name } = await startWorld();
  become(pendingOf(1));
  expect((await pass(500)).at(-1)?.words).toBe(1);
  // The nodes of another process have one block more.
  heads.isPassed = true;
  name(9n);
  become(pendingOf(2));
  const behind = await pass(5_000);
  expect(new Set(behind.map(({ words }) => words))).toEqual(new Set([0]));
  expect(behind.length).toBeLessThanOrEqual(8);
  become(pendingOf(3, 9n));
  expect((await pass(100)).at(-1)?.words).toBe(3);
  // The source goes back to the block before, and another one does not.
  become(pendingOf(4));
  expect((await pass(100)).at(-1)?.words).toBe(0);
  become(pendingOf(5, 9n));
  expect((await pass(100)).at(-1)?.words).toBe(5);
});

test('and so it does while frames of price levels take seconds', async () => {
  const { feeds, pass, become } = await startWorld();
  let made = 0;
  const make = () =>
    new Promise<'late'>((resolve) => {
      made += 1;
      setTimeout(() => resolve('late'), 1_900);
    });
  const start = () => () => undefined;
  for (let key = 0; key < 3; key++)
    feeds.of(`levels ${key}`, () => ({ make, start, minMs: 250, maxMs: 900, maxLateMs: 60_000 }))({
      isReady: true,
      take: () => undefined,
      onSilence: () => undefined,
    });
  become(pendingOf(1));
  const sent = await pass(8_000);
  expect(made).toBeGreaterThan(3);
  expect(Math.max(...gapsOf(sent))).toBeLessThanOrEqual(400);
});

test('changes that come faster than 50 ms share a frame, which has the newest', async () => {
  const { pass, become } = await startWorld();
  await pass(500);
  const sent = [];
  for (let price = 1; price <= 50; price++) {
    become(pendingOf(price));
    sent.push(...(await pass(10)));
  }
  sent.push(...(await pass(100)));
  expect(sent.length).toBeLessThanOrEqual(12);
  expect(Math.min(...gapsOf(sent))).toBeGreaterThanOrEqual(50);
  expect(sent.at(-1)?.words).toBe(50);
});

test('a reader is sent away two seconds after the head is not known any more, and counts until it leaves', async () => {
  const { frames, pass, become, leave, endedAt } = await startWorld();
  await pass(500);
  expect(frames.readers).toBe(1);
  become(null);
  await pass(3_000);
  expect(endedAt()).toBeGreaterThanOrEqual(2_000);
  expect(frames.readers).toBe(0);
  leave();
});
