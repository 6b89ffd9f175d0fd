import { describe, expect, test } from 'vitest';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { BlockTooOldError, SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { frameContents } from './frame-contents.ts';
import { maxUnreadMs, NONE_MISSING, nextAwaited } from './next-awaited.ts';

const BLOCK = { number: 7n, hash: '0x07', timestamp: 7n } as const;
const POOLS = [1, 2, 3].map((number) => flatPool(number));
const [POOL] = POOLS;

const notRead = new SnapshotError('timed_out', 'the pool was not read at this block');
const ofNodes = new SnapshotError('timed_out', 'x', { cause: new RpcFailure('timeout', 'x') });
const exhausted = new SnapshotError('timed_out', 'x', { cause: new RpcFailure('exhausted', 'x') });
const tooOld = new BlockTooOldError('the block became too old');
const own = new SnapshotError('unavailable', 'the pool simulates no swaps');
/** @param digest of what is pending on its block */
const snapshot = (hash = '0x07', digest?: string) =>
  ({ pool: POOL, block: { ...BLOCK, hash, ...(digest && { pending: { digest } }) } }) as unknown as Snapshot;

type Outcome = Snapshot | SnapshotError | undefined;

/** A feed of three pools, whose outcomes and clock the test sets. */
function feedOf() {
  let missing = NONE_MISSING;
  const at = (now: number, outcomes: readonly Outcome[], isBeingRead = false, isOverdue = false) => {
    const pools = POOLS.map(({ address }, index) => ({ pool: address, outcome: outcomes[index], isBeingRead }));
    const [next, sorted] = nextAwaited(missing, { block: BLOCK, pools }, now, maxUnreadMs({ blockTimeMs: 1_000 }));
    missing = next;
    const contents = frameContents(sorted, isOverdue);
    return typeof contents === 'string' ? contents : (contents?.length ?? null);
  };
  return { at };
}

describe('a frame', () => {
  const read = snapshot();
  test.each([
    ['has all pools that are read', [read, read, read], 3],
    ['is late while a pool is not read at all', [read, read, undefined], 'late'],
    ['is late while a pool has not had its turn', [read, read, notRead], 'late'],
    ['is late while the budget has no calls for a pool', [read, exhausted, read], 'late'],
    ['is late while nodes do not give a pool', [read, ofNodes, read], 'late'],
    ['is late while a pool is of another block', [read, read, snapshot('0x06')], 'late'],
    ['leaves out a pool that has no quote at this block', [read, own, read], 2],
    ['waits for no pool that has no quote at this block', [own, own, notRead], 'late'],
    ['is none while nodes give no pool', [ofNodes, ofNodes, ofNodes], null],
    ['is none while the block of all pools is too old', [tooOld, tooOld, tooOld], null],
    ['is empty when no pool has a quote', [own, own, own], 0],
    ['is late while nodes do not give some pools, and no other has a quote', [own, ofNodes, ofNodes], 'late'],
    ['is late before the first read', [undefined, undefined, undefined], 'late'],
    ['has committed and live pools of one state', [read, snapshot('0x07', 'a'), snapshot('0x07', 'a')], 3],
    ['is late while live pools are of several states', [read, snapshot('0x07', 'a'), snapshot('0x07', 'b')], 'late'],
  ] as const)('%s', (_what, outcomes, expected) => {
    expect(feedOf().at(0, outcomes)).toBe(expected);
  });

  test('has live pools of several states of a block rather than come later than a second', () => {
    const outcomes = [read, snapshot('0x07', 'a'), snapshot('0x07', 'b')];
    expect(feedOf().at(0, outcomes, false, true)).toBe(3);
    expect(feedOf().at(0, [read, snapshot('0x06', 'a'), snapshot('0x07', 'b')], false, true)).toBe('late');
  });

  test('waits for a pool that nodes do not give five seconds, then leaves it out until it is read', () => {
    const { at } = feedOf();
    expect([0, 4_999].map((now) => at(now, [read, ofNodes, read]))).toEqual(['late', 'late']);
    expect([5_000, 6_000].map((now) => at(now, [read, ofNodes, read]))).toEqual([2, 2]);
    // Between two attempts it is not its turn.
    expect(at(6_100, [read, notRead, read])).toBe(2);
    expect(at(6_200, [read, read, read])).toBe(3);
    expect(at(6_300, [read, ofNodes, read])).toBe('late');
  });

  test('waits five seconds for a pool whose read does not end', () => {
    const { at } = feedOf();
    const outcomes = [read, notRead, read];
    expect([0, 4_999, 5_000].map((now) => at(now, outcomes, true))).toEqual(['late', 'late', 2]);
  });

  test('leaves out a pool that nodes do not give after five seconds, also if it is not always its turn', () => {
    for (const pattern of [
      [ofNodes, ofNodes, ofNodes, notRead],
      [ofNodes, ...Array.from({ length: 9 }, () => exhausted)],
    ]) {
      const { at } = feedOf();
      const contents = Array.from({ length: 40 }, (_, look) =>
        at(look * 250, [read, pattern[look % pattern.length], read]),
      );
      expect(contents).toEqual(contents.map((_, look) => (look * 250 < 5_000 ? 'late' : 2)));
      expect(at(10_000, [read, read, read])).toBe(3);
      expect(at(10_250, [read, notRead, read])).toBe('late');
    }
  });

  test('is none, and not empty, when nodes have given none of its pools for five seconds', () => {
    const { at } = feedOf();
    const contents = [0, 4_999, 5_000, 6_000].map((now) => at(now, [ofNodes, ofNodes, ofNodes]));
    expect(contents).toEqual([null, null, null, null]);
  });

  test('never leaves out a pool whose reads do not fail, but end without a turn', () => {
    const { at } = feedOf();
    for (let now = 0; now < 60_000; now += 250) expect(at(now, [read, notRead, read], now % 1_000 < 500)).toBe('late');
  });

  test('never leaves out a pool that waits for its turn', () => {
    const { at } = feedOf();
    for (let now = 0; now < 60_000; now += 250) expect(at(now, [read, read, notRead])).toBe('late');
  });

  test('waits again for a pool that nobody wanted for a minute', () => {
    const { at } = feedOf();
    expect([0, 59_999].map((now) => at(now, [read, ofNodes, read]))).toEqual(['late', 2]);
    expect(at(119_999, [read, ofNodes, read])).toBe('late');
  });
});

test('on slow chains frames wait two blocks for a pool', () => {
  expect([1_000, 2_500, 12_000].map((blockTimeMs) => maxUnreadMs({ blockTimeMs }))).toEqual([5_000, 5_000, 24_000]);
});
