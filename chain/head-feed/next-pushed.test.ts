import fc from 'fast-check';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import type { BlockRef } from '../read-context.ts';
import { isFeedLive, newPushState, nextPushed, type PushEvent } from './next-pushed.ts';

const BLOCK_MS = 1_000;

/** A block by branch and height, such as `a1`, with a timestamp in seconds. */
const blockOf = (name: string, secs = 0): BlockRef => ({
  number: BigInt(name.slice(1)),
  hash: name as Hex,
  timestamp: BigInt(secs),
});

/** A feed of two sources: 0 is fast, 1 is slow. Its clock is at zero. `has`: whether nodes have a block, at once. */
function feedOf({
  has = () => true,
  checksAll = false,
}: {
  has?: (block: BlockRef) => boolean;
  checksAll?: boolean;
} = {}) {
  const clock = { ms: 0 };
  let state = newPushState(2, 0);
  const take = (event: PushEvent) => {
    const [next, effects] = nextPushed(state, event, clock.ms, { blockTimeMs: BLOCK_MS, checksAll });
    state = next;
    return effects;
  };
  const checked: string[] = [];
  const push = (source: number, name: string, age = 0) => {
    const { isNews, toCheck } = take({ kind: 'pushed', source, block: blockOf(name), wallMs: age });
    if (!toCheck) return isNews;
    checked.push(name);
    return has(toCheck.block) && take({ kind: 'checked', ...toCheck }).isNews;
  };
  const isLive = () => isFeedLive(state, clock.ms, BLOCK_MS);
  return { clock, take, push, isLive, checked };
}

test.each([
  [
    'each block once',
    [
      [0, 'a1'],
      [1, 'a1'],
      [1, 'a2'],
      [0, 'a2'],
    ],
    ['a1', 'a2'],
  ],
  [
    'no block that a slow source reports late',
    [
      [0, 'a1'],
      [0, 'a3'],
      [1, 'a2'],
      [1, 'a3'],
      [1, 'a4'],
    ],
    ['a1', 'a3', 'a4'],
  ],
  [
    'a reorganisation of the source',
    [
      [0, 'a1'],
      [0, 'a2'],
      [0, 'b1'],
      [1, 'a2'],
      [0, 'b2'],
    ],
    ['a1', 'a2', 'b1', 'b2'],
  ],
  [
    'of two blocks of one height the first',
    [
      [0, 'a1'],
      [1, 'b1'],
      [1, 'b2'],
    ],
    ['a1', 'b2'],
  ],
] as const)('news are: %s', (_name, pushed, news) => {
  const { push } = feedOf();
  expect(pushed.filter(([source, name]) => push(source, name)).map(([, name]) => name)).toEqual(news);
});

test('below a head that was polled, a head that is pushed is late', () => {
  const { take, push } = feedOf();
  take({ kind: 'polled', block: blockOf('a5') });
  expect(['a3', 'a4', 'a5', 'a6'].filter((name) => push(0, name))).toEqual(['a6']);
  take({ kind: 'polled', block: blockOf('a2') });
  expect(push(1, 'a3')).toBe(false);
});

test('a head of a node that still loads the chain is not news, nor a sign of life', () => {
  const { clock, take, push } = feedOf();
  clock.ms = 29_999;
  expect([push(0, 'a1', 30_001), push(1, 'a2', 30_000)]).toEqual([false, true]);
  clock.ms = 30_000;
  expect(take({ kind: 'time' }).dead).toEqual([0]);
});

test('a feed is live for two block times after news', () => {
  const { clock, push, isLive } = feedOf();
  expect(isLive()).toBe(false);
  push(0, 'a1');
  clock.ms = 1_000;
  push(1, 'a1');
  clock.ms = 1_999;
  expect(isLive()).toBe(true);
  clock.ms = 2_000;
  expect(isLive()).toBe(false);
});

test('parts of a block, pushed each 200 ms, are not heads', () => {
  const { clock, push, take, checked } = feedOf({ has: ({ number }) => number > 50n });
  const pushed: string[] = [];
  for (let height = 2; height <= 50; height += 1) {
    for (const branch of 'abcdefghij') {
      clock.ms += 200;
      if (push(0, `${branch}${height}`)) pushed.push(`${branch}${height}`);
      take({ kind: 'time' });
    }
  }
  expect(pushed).toEqual([]);
  // Until the third it may be a reorganisation.
  expect(checked).toEqual(['a2', 'b2']);
  expect(push(1, 'a51')).toBe(true);
  clock.ms += 600_000;
  expect(push(0, 'a52')).toBe(true);
});

test('nodes are asked for the heads of a source until it pushed two heights with one hash each, and after a second one', () => {
  const { clock, push, checked } = feedOf();
  const news = ['a1', 'a2', 'a3', 'a4', 'b4', 'b5', 'b6', 'b7', 'b8'].map((name) => {
    clock.ms += 1_000;
    return push(0, name);
  });
  expect(news).not.toContain(false);
  expect(checked).toEqual(['a1', 'a2', 'b4', 'b5', 'b6']);
});

test('nodes are asked again for the heads of a source that was dialled again: it may be another node, which pushes parts', () => {
  const { push, take, checked } = feedOf({ has: ({ hash }) => hash.startsWith('a') });
  for (const name of ['a1', 'a2', 'a3']) expect(push(0, name)).toBe(true);
  take({ kind: 'ended', source: 0 });
  expect(push(0, 'b4')).toBe(false);
  expect(push(0, 'a4')).toBe(true);
  expect(checked).toEqual(['a1', 'a2', 'b4', 'a4']);
});

test('where all heads are checked, nodes are asked for each', () => {
  const { push, checked } = feedOf({ checksAll: true });
  const pushed = ['a1', 'a2', 'a3', 'a4', 'a5'];
  for (const name of pushed) push(0, name);
  expect(checked).toEqual(pushed);
});

test('what no node has is not known of: another source may push its height', () => {
  const { push, isLive } = feedOf({ has: ({ hash }) => hash.startsWith('b') });
  expect(push(0, 'a1')).toBe(false);
  expect(isLive()).toBe(false);
  expect(push(1, 'b1')).toBe(true);
});

test('a head that nodes have only after a later one was passed on is late', () => {
  const { take } = feedOf();
  const pushed = (name: string) => take({ kind: 'pushed', source: 0, block: blockOf(name), wallMs: 0 }).toCheck;
  const [one, two] = [pushed('a1'), pushed('a2')];
  if (!one || !two) throw new Error('not checked');
  expect([two, one, two].map((each) => take({ kind: 'checked', ...each }).isNews)).toEqual([true, false, false]);
});

test('the same head again, and reorganisations of one height, make no part', () => {
  const { clock, push } = feedOf();
  const news = ['a1', 'a1', 'a1', 'b1', 'b1', 'a2', 'b2', 'a3', 'b3'].map((name) => {
    clock.ms += 100;
    return push(0, name);
  });
  expect(news).toEqual([true, false, false, true, false, true, true, true, true]);
});

test('property: a block is news once, a lower one only from a source that went back, and silent sources are dialled', () => {
  const step = fc.record({
    // Sooner, it may be parts of a block.
    wait: fc.integer({ min: 500, max: 20_000 }),
    source: fc.integer({ min: 0, max: 1 }),
    name: fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 8 })).map((parts) => parts.join('')),
    does: fc.constantFrom('push', 'push', 'poll', 'nothing'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, take, push } = feedOf();
      const seen = new Set<string>();
      const heights = [-1n, -1n];
      const heardAt = [0, 0];
      let highest = -1n;
      let { wakeAt } = take({ kind: 'time' });
      for (const { wait, source, name, does } of steps) {
        const end = clock.ms + wait;
        for (; wakeAt <= end; ) {
          clock.ms = wakeAt;
          const effects = take({ kind: 'time' });
          expect(effects.dead).toEqual([0, 1].filter((each) => clock.ms - (heardAt[each] ?? 0) === 30_000));
          expect(effects.dead.length).toBeGreaterThan(0);
          for (const each of effects.dead) heardAt[each] = clock.ms;
          wakeAt = effects.wakeAt;
        }
        clock.ms = end;
        const { number } = blockOf(name);
        if (does === 'push') {
          const isNews = push(source, name);
          const wentBack = number <= (heights[source] ?? -1n);
          expect(isNews).toBe(!seen.has(name) && (number > highest || wentBack));
          if (isNews) highest = number;
          if (isNews) seen.add(name);
          heights[source] = number;
          heardAt[source] = clock.ms;
        }
        if (does === 'poll') {
          take({ kind: 'polled', block: blockOf(name) });
          if (number > highest) highest = number;
          seen.add(name);
        }
        wakeAt = take({ kind: 'time' }).wakeAt;
        expect(wakeAt).toBe(Math.min(...heardAt) + 30_000);
      }
    }),
    { numRuns: runs(100) },
  );
});
