import { type Address, concatHex, type Hex, numberToHex, size, sliceHex } from 'viem';
import { expect, test } from 'vitest';
import { pendingPart } from '../../chain/pending-part.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { digestOf, othersIn } from '../calls/answers-digest.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { ShownAnswers } from './shown-answers.ts';

const POOLS = [flatPool(11), flatPool(12), flatPool(13)] as const;
const [POOL] = POOLS;
const word = (value: bigint | number): Hex => numberToHex(value, { size: 32 });
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

const wordResult = (value: bigint): CallResult => ({ success: true, data: word(value) });

/** Of a pool whose provider quotes this: its own price is the same, and balances and code are others. */
const answersOf = (quote: bigint, change: Partial<PoolAnswers> = {}): PoolAnswers => ({
  storage: wordResult(7n),
  quote: wordResult(quote),
  prices: [quote, 1n, 2n, 3n, 4n].map(wordResult),
  ...change,
});

/** What the contract gives for a call while the pool answers this. */
function resultOf(call: Hex, present: PoolAnswers, gasUsed = 0): CallResult {
  const answers = othersIn(present);
  const digest = digestOf({ pool: POOL, answers });
  if (sliceHex(call, 0, 32) === digest) return { success: false, data: concatHex([digest, word(gasUsed)]) };
  const results = [answers.storage, answers.quote, ...answers.others].map((result) => {
    const { success, data } = result as CallResult;
    return concatHex([word(success ? 1 : 0), word(size(data)), data]);
  });
  return { success: false, data: concatHex([...results, word(gasUsed)]) };
}

/** Pools that were read after a part, each with these answers. */
function openKnown(answers = answersOf(5n)) {
  const clock = { ms: 0 };
  const shown = new ShownAnswers(() => clock.ms);
  for (const pool of POOLS) shown.note(blockAt(viewOf(1n)), pool, answers);
  /** A call shows a part, at which pools answer this. @returns of how many it was to give that */
  const show = async (view: PartView, present = answers, results = (call: Hex) => resultOf(call, present)) => {
    let count = 0;
    await shown.read(async ({ calls }) => {
      count = calls.length;
      return { view, results: calls.map(({ data }) => results(data)) };
    }, true);
    return count;
  };
  const known = (view: PartView) => ({
    whole: shown.at(blockAt(view), POOL),
    others: shown.others(blockAt(view), POOL),
  });
  return { shown, show, clock, known };
}

const NOTHING = { whole: undefined, others: undefined };

test('what a pool answered holds at a later part of the block where it is shown to be the same, and at no other', async () => {
  const { show, known } = openKnown();
  expect(await show(viewOf(2n))).toBe(POOLS.length);
  expect(known(viewOf(2n)).whole).toEqual(answersOf(5n));
  expect([known(viewOf(1n)), known(viewOf(3n))]).toEqual([NOTHING, NOTHING]);
});

test('where it changed, all but the prices is shown, which are not those of before', async () => {
  const { shown, show, known } = openKnown();
  const { prices = [], ...rest } = answersOf(6n);
  const changed = { whole: undefined, others: { ...rest, others: prices.slice(1) } };
  await show(viewOf(2n), answersOf(6n));
  expect(known(viewOf(2n))).toEqual(changed);
  // Nobody reads the prices, and it changes back.
  await show(viewOf(3n));
  expect([known(viewOf(2n)), known(viewOf(3n)).whole]).toEqual([changed, answersOf(5n)]);
  shown.note(blockAt(viewOf(3n)), POOL, answersOf(6n));
  await show(viewOf(4n), answersOf(6n));
  expect(known(viewOf(4n)).whole).toEqual(answersOf(6n));
});

test('in another block the prices are others even where nothing else changed', async () => {
  const { show, known } = openKnown();
  await show(viewOf(2n, 11n));
  expect(known(viewOf(2n, 11n))).toEqual({ whole: undefined, others: othersIn(answersOf(5n)) });
});

const moved = { most: word(2n), result: wordResult(1n) };
test.each<[string, Partial<PoolAnswers>]>([
  ['provider did not quote, but which has prices', { quote: { success: false, data: '0x' } }],
  ['token does not move whole', { transfers: [moved, moved] }],
])('the prices of a pool whose %s are read at each part', async (_, change) => {
  const answers = answersOf(5n, change);
  const { show, known } = openKnown(answers);
  await show(viewOf(2n));
  expect(known(viewOf(2n))).toEqual({ whole: undefined, others: othersIn(answers) });
});

test('the prices of a pool that once changed alone are read at each part from then on', async () => {
  const { shown, show, known } = openKnown();
  const [, ...others] = answersOf(5n).prices ?? [];
  shown.note(blockAt(viewOf(2n)), POOL, answersOf(5n, { prices: [wordResult(9n), ...others] }));
  await show(viewOf(3n));
  expect(known(viewOf(3n))).toEqual({ whole: undefined, others: othersIn(answersOf(5n)) });
});

test('the code of a pool is what it was, since a stub is in its place', async () => {
  const watched = [POOL.address, POOLS[1].address];
  const code = [8n, 9n].map(wordResult);
  const withCode = (quote: bigint) => {
    const { prices = [], ...rest } = answersOf(quote);
    return { ...rest, watched, prices: [...prices, ...code] };
  };
  const { shown, show, known } = openKnown();
  shown.note(blockAt(viewOf(1n)), POOL, withCode(5n));
  await show(viewOf(2n), undefined, (call) => {
    const { prices = [], ...rest } = withCode(6n);
    return resultOf(call, { ...rest, prices: prices.filter(({ data }) => data !== word(8n)) });
  });
  expect(known(viewOf(2n)).others).toEqual(othersIn(withCode(6n)));
});

/** What may be wrong with a result of three, for a call to which the pool answers something else. */
const broken: readonly (readonly [string, (right: Hex) => CallResult])[] = [
  ['was not made', () => ({ success: true, data: '0x' })],
  ['failed', () => ({ success: false, data: '0x' })],
  ['has the digest of something else', () => ({ success: false, data: concatHex([word(1n), word(0)]) })],
  ['has no gas', () => ({ success: false, data: word(1n) })],
  ['ends too early', (data) => ({ success: false, data: sliceHex(data, 0, size(data) - 1) })],
  ['ends too late', (data) => ({ success: false, data: concatHex([data, '0x00']) })],
  ['ends within a word', (data) => ({ success: false, data: sliceHex(data, 0, 40) })],
];

test.each(broken)('a pool whose call %s is read, and others are not', async (_, result) => {
  const { show, known, shown } = openKnown();
  const view = viewOf(2n);
  let calls = 0;
  await show(view, undefined, (call) => {
    calls += 1;
    const right = resultOf(call, answersOf(6n));
    return calls === 1 ? result(right.data) : right;
  });
  const found = POOLS.map((pool) => shown.others(blockAt(view), pool) !== undefined);
  expect(found.filter((isFound) => isFound)).toHaveLength(POOLS.length - 1);
  expect(known(view).whole).toBeUndefined();
});

test('a quote that was skipped for want of gas is no answer', async () => {
  const { show, known } = openKnown();
  await show(viewOf(2n), answersOf(6n, { quote: { success: true, data: '0x' } }));
  expect(known(viewOf(2n))).toEqual(NOTHING);
});

const failing = () => {
  throw new RangeError('too large');
};

test('nodes that ignore the calls, or fail with them, are asked again soon, then after longer and longer', async () => {
  const { show, clock } = openKnown();
  await expect(show(viewOf(2n), undefined, failing)).rejects.toThrow('too large');
  for (const pauseMs of [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]) {
    clock.ms += pauseMs - 1;
    expect(await show(viewOf(3n))).toBe(0);
    clock.ms += 1;
    expect(await show(viewOf(4n), undefined, () => ({ success: true, data: '0x' }))).toBe(POOLS.length);
  }
  clock.ms += 10_000;
  expect(await show(viewOf(6n))).toBe(POOLS.length);
  // As a block is sealed, now and then.
  await expect(show(viewOf(7n), undefined, failing)).rejects.toThrow('too large');
  clock.ms += 200;
  expect(await show(viewOf(8n))).toBe(POOLS.length);
});

test('while the call fails without these, too, they are read again soon: the machine is busy', async () => {
  const { shown, show, clock } = openKnown();
  for (let times = 0; times < 5; times += 1) {
    await expect(show(viewOf(2n), undefined, failing)).rejects.toThrow('too large');
    await expect(shown.read(async () => Promise.reject(new Error('late')), true)).rejects.toThrow('late');
    clock.ms += 200;
  }
  expect(await show(viewOf(3n))).toBe(POOLS.length);
});

test('pools that were not read for more than a block are not asked for', async () => {
  const { shown, show } = openKnown();
  shown.note(blockAt(viewOf(2n, 11n)), POOL, answersOf(5n));
  expect(await show(viewOf(3n, 11n))).toBe(POOLS.length);
  shown.note(blockAt(viewOf(2n, 12n)), POOL, answersOf(5n));
  expect(await show(viewOf(3n, 12n))).toBe(1);
});

test('a pool that burns gas is not asked for, and other processes are to know it', async () => {
  const { shown, show, clock } = openKnown();
  const costly: Address[] = [];
  shown.gas.onCostly((pool) => costly.push(pool));
  let calls = 0;
  // The one that was noted last comes first.
  await show(viewOf(2n), undefined, (call) => resultOf(call, answersOf(5n), calls++ === 0 ? 6_000_000 : 200_000));
  expect(costly).toEqual([POOLS[2].address]);
  expect(await show(viewOf(3n))).toBe(POOLS.length - 1);
  clock.ms = 60_000;
  expect(await show(viewOf(4n))).toBe(POOLS.length);
});

test('what the call in flight shows is waited for', async () => {
  const { shown } = openKnown();
  const view = viewOf(2n);
  const { promise, resolve } = Promise.withResolvers<void>();
  const reading = shown.read(async ({ calls }) => {
    await promise;
    return { view, results: calls.map(({ data }) => resultOf(data, answersOf(6n))) };
  }, true);
  const soon = shown.othersSoon(blockAt(view), POOL);
  resolve();
  await reading;
  expect(await soon).toEqual(othersIn(answersOf(6n)));
  expect(await shown.othersSoon(blockAt(viewOf(3n)), POOL)).toBeUndefined();
});
