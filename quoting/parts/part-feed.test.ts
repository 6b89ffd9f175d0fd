import { type Hex, numberToHex } from 'viem';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PartView } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { PartFeed, type SharedPart } from './part-feed.ts';
import { LEFT_MS, PART_MS, SILENT_MS } from './part-schedule.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const hashOf = (number: bigint): Hex => numberToHex(number, { size: 32 });
const viewOf = (blockNumber: bigint, feesWei: bigint): PartView => ({
  blockNumber,
  timestamp: 1_000n + 2n * blockNumber,
  parentHash: hashOf(blockNumber - 1n),
  feesWei,
});
const partOf = (index: number, isUnchanged = false) => ({ blockNumber: 10n, index, isUnchanged });
const HEAD = { number: 9n, hash: hashOf(9n), timestamp: 1_018n, parents: [hashOf(8n)] };

/** A feed whose calls show this, one after the other; the last one again. */
function feedOf(shows: (PartView | RpcFailure | 'nothing')[], id = 'b', sealed = { isDivergent: () => false }) {
  const calls: number[] = [];
  const outcomes: string[] = [];
  const shared: SharedPart[] = [];
  const startedAt = Date.now();
  const now = () => Date.now() - startedAt;
  const feed = new PartFeed({
    id,
    multicall3: '0xca11bde05977b3631167028862be2a173976ca11',
    maxAgeMs: 600,
    committed: { announced: { block: HEAD, endpoint: null } },
    async read() {
      calls.push(now());
      const shown = (shows.length > 1 ? shows.shift() : shows[0]) as (typeof shows)[number];
      if (shown instanceof RpcFailure) throw shown;
      return shown === 'nothing' ? new Promise(() => undefined) : shown;
    },
    sealed,
    observer: { count: (_, outcome) => outcomes.push(outcome) },
    now,
  });
  feed.onShown((part) => shared.push(part));
  return { feed, calls, outcomes, shared };
}

test('nodes are asked each 200 ms for as long as somebody wants quotes, and some seconds more', async () => {
  const { feed, calls } = feedOf([viewOf(10n, 5n)]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls).toEqual([]);
  feed.want();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls[1]).toBe((calls[0] ?? 0) + PART_MS);
  expect(calls.length).toBeLessThanOrEqual(26);
});

test('the same part is the same state, and gets younger', async () => {
  const { feed } = feedOf([viewOf(10n, 5n), viewOf(10n, 5n), viewOf(10n, 6n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(10);
  const first = feed.state();
  expect(first).toMatchObject({ blockNumber: 10n, receivedAt: 0, part: { view: viewOf(10n, 5n), index: null } });
  await vi.advanceTimersByTimeAsync(PART_MS);
  expect(feed.state()).toMatchObject({ digest: first?.digest, receivedAt: PART_MS });
  await vi.advanceTimersByTimeAsync(PART_MS);
  expect(feed.state()?.digest).not.toBe(first?.digest);
});

test('a part that no call shows any more ends after its age, and the operator sees why', async () => {
  const { feed, outcomes } = feedOf([viewOf(10n, 5n), new RpcFailure('refused', 'block not found'), viewOf(9n, 5n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(10);
  expect(feed.warning()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(580);
  expect(feed.state()).toBeDefined();
  await vi.advanceTimersByTimeAsync(20);
  expect(feed.state()).toBeUndefined();
  expect(feed.warning()).toBe('quotes are committed: parts of blocks are not used (committed)');
  expect(outcomes.slice(0, 3)).toEqual(['used', 'refused', 'committed']);
});

test('the operator sees that a call takes longer than a part is used', async () => {
  const { feed } = feedOf([viewOf(10n, 5n), 'nothing']);
  feed.want();
  await vi.advanceTimersByTimeAsync(600);
  expect(feed.warning()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(feed.warning()).toBe('quotes are committed: parts of blocks are not used (timeout)');
});

test('the index is that of the pushed part of this block', async () => {
  const { feed } = feedOf([viewOf(10n, 5n), viewOf(10n, 6n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(10);
  feed.push(partOf(4), 'socket');
  await vi.advanceTimersByTimeAsync(1);
  expect(feed.state()?.part?.index).toBe(4);
});

test('the index is not known where another part was pushed during the call, or none since the last one', async () => {
  const { feed, calls, shared } = feedOf([viewOf(10n, 5n), viewOf(10n, 6n), viewOf(10n, 6n), viewOf(10n, 7n)]);
  feed.push(partOf(3), 'socket');
  feed.want();
  feed.push(partOf(4), 'socket');
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toHaveLength(2);
  feed.push(partOf(5), 'socket');
  await vi.advanceTimersByTimeAsync(0);
  await vi.advanceTimersByTimeAsync(SILENT_MS);
  expect(feed.state()?.part).toMatchObject({ view: viewOf(10n, 7n), index: null });
  expect(shared.map(({ view, index }) => [view.feesWei, index])).toEqual([
    [5n, null],
    [6n, 4],
    [6n, 4],
    [7n, null],
  ]);
});

test('a part that was not shown before has the index of a push during the call', async () => {
  const { feed, shared } = feedOf([viewOf(10n, 4n), viewOf(10n, 5n), viewOf(10n, 6n)]);
  const push = async (index: number) => {
    feed.push(partOf(index), 'socket');
    await vi.advanceTimersByTimeAsync(0);
  };
  feed.want();
  feed.push(partOf(2), 'socket');
  await push(3);
  // A pool's call comes to the next part before it is pushed, then one after that.
  feed.note(viewOf(10n, 6n));
  await push(4);
  feed.push(partOf(5), 'socket');
  feed.note(viewOf(10n, 7n));
  // Another process tells the index of the part that was pushed, before one is shown that is not pushed yet.
  feed.push(partOf(6), 'socket');
  feed.hear('a', { view: viewOf(10n, 8n), index: 6 });
  feed.note(viewOf(10n, 9n));
  expect(shared.map(({ view, index }) => [view.feesWei, index])).toEqual([
    [4n, null],
    [5n, 3],
    [6n, null],
    [6n, 4],
    [7n, 5],
    [9n, null],
  ]);
});

test('the index is not known in a block whose pushes calls are behind, and known in the next one', async () => {
  const { feed, shared } = feedOf([viewOf(9n, 3n), viewOf(9n, 4n), viewOf(10n, 5n), viewOf(11n, 6n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(0);
  for (const part of [partOf(0), partOf(1), { ...partOf(0), blockNumber: 11n }]) {
    feed.push(part, 'socket');
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(shared.map(({ view, index }) => [view.blockNumber, index])).toEqual([
    [10n, null],
    [11n, 0],
  ]);
});

test('a part in which nothing happened costs no call, and is as young as its push, once calls can be no more behind', async () => {
  const { feed, calls, shared } = feedOf([viewOf(10n, 5n), viewOf(10n, 5n), viewOf(10n, 6n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(0);
  for (let index = 1; index < 8; index += 1) {
    feed.push(partOf(index, index > 1), 'socket');
    await vi.advanceTimersByTimeAsync(PART_MS);
  }
  // At the first, at the change, and at three parts after it.
  expect(calls).toHaveLength(5);
  expect(feed.state()).toMatchObject({ receivedAt: 6 * PART_MS, part: { view: viewOf(10n, 6n) } });
  // Others hear of each, so that they leave calls to this process.
  expect(shared).toHaveLength(8);
  feed.push(partOf(8), 'socket');
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toHaveLength(6);
});

test('it costs one where the call began before the last part that shows it', async () => {
  const { feed, calls } = feedOf([viewOf(10n, 5n)]);
  feed.want();
  for (let index = 1; index < 5; index += 1) feed.push(partOf(index, index > 1), 'socket');
  await vi.advanceTimersByTimeAsync(0);
  feed.push(partOf(5, true), 'socket');
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.length).toBeGreaterThan(1);
});

test('logs of a part make one call', async () => {
  const { feed, calls } = feedOf([viewOf(10n, 5n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(PART_MS - 50);
  for (let logs = 0; logs < 50; logs += 1) {
    feed.log();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(calls).toEqual([0, PART_MS - 50]);
});

test('of two processes one asks, and the other one takes over when it does not hear of it', async () => {
  const { feed, calls, shared } = feedOf([viewOf(10n, 7n)]);
  feed.hear('a', { view: viewOf(10n, 5n), index: 2 });
  feed.want();
  for (let parts = 0; parts < 5; parts += 1) {
    await vi.advanceTimersByTimeAsync(PART_MS);
    feed.hear('a', { view: viewOf(10n, 6n), index: 3 });
  }
  expect([calls, shared]).toEqual([[], []]);
  expect(feed.state()?.part).toMatchObject({ view: viewOf(10n, 6n), index: 3 });
  await vi.advanceTimersByTimeAsync(LEFT_MS);
  expect(calls).toHaveLength(1);
  expect(shared).toEqual([{ view: viewOf(10n, 7n), index: null }]);
});

test('what another process shares is judged as well', () => {
  const { feed, outcomes } = feedOf([viewOf(10n, 5n)]);
  feed.hear('a', { view: viewOf(9n, 5n), index: null });
  expect(outcomes).toEqual(['committed']);
  expect(feed.state()).toBeUndefined();
});

test('nothing happens after it is closed', async () => {
  const { feed, calls } = feedOf([viewOf(10n, 5n)]);
  feed.want();
  await vi.advanceTimersByTimeAsync(10);
  feed.close();
  feed.want();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls).toHaveLength(1);
});

test('divergent parts are counted so, and a warning until they agree again', async () => {
  const sealed = { isDivergent: () => true };
  const { feed, outcomes } = feedOf([viewOf(10n, 5n), viewOf(10n, 6n)], 'b', sealed);
  feed.want();
  await vi.advanceTimersByTimeAsync(10);
  expect([outcomes, feed.warning()]).toEqual([['divergent'], expect.stringContaining('(divergent)')]);
  expect(feed.state()).toMatchObject({ part: { view: viewOf(10n, 5n) } });
  sealed.isDivergent = () => false;
  await vi.advanceTimersByTimeAsync(PART_MS);
  expect([outcomes, feed.warning()]).toEqual([['divergent', 'used'], undefined]);
});
