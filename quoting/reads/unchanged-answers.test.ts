import { type Hex, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { pendingPart } from '../../chain/pending-part.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { digestOf } from '../calls/answers-digest.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { UnchangedAnswers } from './unchanged-answers.ts';

const POOLS = [flatPool(1), flatPool(2), flatPool(3)] as const;
const [POOL] = POOLS;
const word = (value: bigint): Hex => numberToHex(value, { size: 32 });
const viewOf = (feesWei: bigint, blockNumber = 10n): PartView => ({
  blockNumber,
  timestamp: 1_000n + 2n * blockNumber,
  parentHash: word(blockNumber - 1n),
  feesWei,
});

function blockAt(view: PartView): BlockRef {
  const multicall3 = '0xca11bde05977b3631167028862be2a173976ca11';
  const number = view.blockNumber - 1n;
  return {
    number,
    hash: word(number),
    timestamp: 1_000n + 2n * number,
    pending: pendingPart({ view, index: 0, multicall3 }, 0),
  };
}

/** Of a pool whose provider quotes this. */
const answersOf = (quote: bigint, change: Partial<PoolAnswers> = {}): PoolAnswers => {
  const results = [quote, 1n, 2n, 3n, 4n].map((value) => ({ success: true, data: word(value) }));
  return {
    storage: { success: true, data: word(7n) },
    quote: { success: true, data: word(quote) },
    prices: results,
    ...change,
  };
};

/** Pools that were read after a part, each with these answers. */
function openKnown(answers = answersOf(5n), pools: readonly (typeof POOL)[] = POOLS) {
  const clock = { ms: 0 };
  const unchanged = new UnchangedAnswers(() => clock.ms);
  for (const pool of pools) unchanged.note(blockAt(viewOf(1n)), pool, answers);
  /** A call shows a part, at which pools would answer this. */
  const show = (view: PartView, present: PoolAnswers = answers) => {
    const calls = unchanged.next(undefined);
    unchanged.show(
      view,
      calls,
      calls.pools.map((pool) => ({ success: false, data: digestOf({ pool, answers: present }) })),
    );
    return calls.pools.length;
  };
  return { unchanged, show, clock, at: (view: PartView) => unchanged.at(blockAt(view), POOL) };
}

test('what a pool answered holds at a later part of the block whose digest is the same, and at no other', () => {
  const { show, at } = openKnown();
  expect(show(viewOf(2n))).toBe(POOLS.length);
  expect(at(viewOf(2n))).toEqual(answersOf(5n));
  expect([at(viewOf(1n)), at(viewOf(3n))]).toEqual([undefined, undefined]);
  show(viewOf(3n), answersOf(6n));
  expect([at(viewOf(3n)), at(viewOf(2n))]).toEqual([undefined, answersOf(5n)]);
});

test('it does not hold in another block', () => {
  const { show, at } = openKnown();
  show(viewOf(2n, 11n));
  expect(at(viewOf(2n, 11n))).toBeUndefined();
});

test('no digests are read for a part of the next block', () => {
  const { unchanged } = openKnown();
  expect(unchanged.next(11n).calls).toEqual([]);
  expect(unchanged.next(10n).calls).toHaveLength(POOLS.length);
});

const result = { success: true, data: word(1n) };
test.each<[string, Partial<PoolAnswers>]>([
  ['storage was not read', { storage: undefined }],
  ['provider did not quote, but which has prices', { quote: { success: false, data: '0x' } }],
  [
    'token does not move whole',
    {
      transfers: [
        { most: word(2n), result },
        { most: word(2n), result },
      ],
    },
  ],
])('a pool whose %s is read at each part', (_, change) => {
  expect(openKnown(answersOf(5n, change)).show(viewOf(2n))).toBe(0);
});

test('a pool whose price changed while its digest did not is read at each part from then on', () => {
  const { unchanged, show } = openKnown();
  const [, ...others] = answersOf(5n).prices ?? [];
  unchanged.note(blockAt(viewOf(2n)), POOL, answersOf(5n, { prices: [{ success: true, data: word(9n) }, ...others] }));
  expect(show(viewOf(3n))).toBe(POOLS.length - 1);
});

test('no digests are read after a part that changed most pools, until one that did not', () => {
  const { unchanged, show } = openKnown();
  for (const pool of POOLS) unchanged.note(blockAt(viewOf(2n)), pool, answersOf(6n));
  expect(show(viewOf(3n))).toBe(0);
  for (const pool of POOLS) unchanged.note(blockAt(viewOf(3n)), pool, answersOf(6n));
  expect(show(viewOf(4n))).toBe(POOLS.length);
});

test('nodes that ignore the calls are asked again after a while', () => {
  const { unchanged, show, clock } = openKnown();
  const calls = unchanged.next(undefined);
  unchanged.show(
    viewOf(2n),
    calls,
    calls.pools.map(() => ({ success: true, data: '0x' })),
  );
  expect(show(viewOf(3n))).toBe(0);
  clock.ms = 10_000;
  expect(show(viewOf(4n))).toBe(POOLS.length);
});
