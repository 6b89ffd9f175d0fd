import { expect, test, vi } from 'vitest';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { LaterComparisons, MAX_WAITING_CHARS } from './later-comparisons.ts';
import { COMPARED_SHARE, LogsOfTwo, WATCHED_MS } from './logs-of-two.ts';

const RANGE = { fromBlock: '0x1', toBlock: '0x1' };
const HASH = `0x${'1'.repeat(64)}`;
const OTHER = `0x${'2'.repeat(64)}`;
const log = (index: number) => ({
  address: `0x${'a'.repeat(40)}`,
  topics: [],
  data: '0x',
  blockHash: HASH,
  blockNumber: '0x1',
  transactionHash: HASH,
  logIndex: `0x${index}`,
});

/** Two nodes of a block with two logs, of which the first gives one, while it is lossy. */
function openWorld() {
  const world = {
    now: 0,
    random: 1,
    isLossy: false,
    isRefusing: false,
    hasOthers: false,
    asked: [0, 0] as [number, number],
    /** Requests at a time at the second node: now, and most. */
    atSecond: { now: 0, most: 0 },
    /** The first node is lossy in so many more answers. */
    lossyAnswers: 0,
    leftOut: 0,
    comparisons: [] as string[],
    blamed: [] as { readonly node: number; readonly leftOut: number; readonly invented: number }[],
  };
  const node = (place: 0 | 1) => async (method: string) => {
    if (method === 'eth_getTransactionReceipt') return { blockHash: HASH, logs: [log(0), log(1)] };
    world.asked[place] += 1;
    if (world.isRefusing && place === 1) throw new RpcFailure('refused', 'too wide');
    if (world.hasOthers && place === 1) return [log(0), log(1), { ...log(2), blockHash: OTHER, blockNumber: '0x2' }];
    if (place === 1) {
      world.atSecond.now += 1;
      world.atSecond.most = Math.max(world.atSecond.most, world.atSecond.now);
      await Promise.resolve();
      world.atSecond.now -= 1;
    } else if (world.lossyAnswers > 0) {
      world.lossyAnswers -= 1;
      return [log(0)];
    }
    return world.isLossy && place === 0 ? [log(0)] : [log(0), log(1)];
  };
  const rpc = fakeNodes([node(0), node(1)], () => world.now);
  const logs = new LogsOfTwo({
    count: (fault, count) => {
      if (fault === 'left out') world.leftOut += count;
    },
    countComparison: (result) => world.comparisons.push(result),
    blame: (node, logs) => world.blamed.push({ node: rpc.endpoints.indexOf(node), ...logs }),
    logger: { warn: () => undefined },
    now: () => world.now,
    random: () => world.random,
  });
  const asNodesDo: Parameters<LogsOfTwo['answer']>[2] = async ({ method, params }, take) => ({
    result: await rpc.request(method, params, (result, node) => {
      take(result, node);
      return result;
    }),
  });
  const ask = async (filter: object = RANGE) =>
    ((await logs.answer(rpc, { method: 'eth_getLogs', params: [filter] }, asNodesDo)) as { result: unknown }).result;
  return { world, rpc, ask };
}

test('all answers of a node are compared in its first hour, then a share of them', async () => {
  const { world, ask } = openWorld();
  for (const now of [0, WATCHED_MS - 1]) {
    world.now = now;
    expect(await ask()).toEqual([log(0), log(1)]);
  }
  expect(world.asked).toEqual([2, 2]);
  world.now = WATCHED_MS;
  await ask();
  expect(world.asked).toEqual([3, 2]);
  expect(world.comparisons).toEqual(['compared', 'compared']);
  world.random = COMPARED_SHARE - 0.01;
  await ask();
  expect(world.asked).toEqual([4, 3]);
});

test('a node that left logs out is named, compared for another hour, and not asked for a minute', async () => {
  const { world, ask } = openWorld();
  await ask();
  Object.assign(world, { now: WATCHED_MS, random: 0, isLossy: true });
  expect([await ask(), world.leftOut]).toEqual([[log(0), log(1)], 1]);
  expect(world.blamed).toEqual([{ node: 0, leftOut: 1, invented: 0 }]);
  const [asked] = world.asked;
  await ask();
  expect(world.asked[0]).toBe(asked);
  Object.assign(world, { now: WATCHED_MS + 60_000, random: 1 });
  expect([await ask(), world.leftOut]).toEqual([[log(0), log(1)], 2]);
  Object.assign(world, { now: 2 * WATCHED_MS + 120_000, isLossy: false });
  const [, second] = world.asked;
  await ask();
  expect(world.asked[1]).toBe(second);
});

test('where the second node gives no logs, those of the first are the answer', async () => {
  const { world, ask } = openWorld();
  Object.assign(world, { isLossy: true, isRefusing: true });
  expect([await ask(), world.leftOut]).toEqual([[log(0)], 0]);
  expect(world.comparisons).toEqual(['unanswered']);
});

test('a node that gets a block between two requests left nothing out', async () => {
  const { world, ask } = openWorld();
  world.isLossy = true;
  const answer = ask();
  world.isLossy = false;
  expect([await answer, world.leftOut]).toEqual([[log(0), log(1)], 0]);
});

const askTen = (ask: () => Promise<unknown>) => Promise.all(Array.from({ length: 10 }, () => ask()));

test('at most two answers at a time are compared with those of a node; the others wait for theirs', async () => {
  const { world, ask } = openWorld();
  await askTen(ask);
  await vi.waitUntil(() => world.comparisons.length === 10);
  expect(world.comparisons).toEqual(Array(10).fill('compared'));
  expect([world.asked, world.atSecond]).toEqual([[10, 10], { now: 0, most: 2 }]);
  Object.assign(world, { now: WATCHED_MS });
  await askTen(ask);
  expect(world.comparisons).toHaveLength(10);
});

test('a node is blamed for an answer that had to wait, also if it gives the logs by then', async () => {
  const { world, ask } = openWorld();
  world.lossyAnswers = 10;
  const answers = await askTen(ask);
  const lacking = answers.filter((logs) => JSON.stringify(logs) === JSON.stringify([log(0)]));
  expect(lacking.length).toBeGreaterThan(5);
  await vi.waitUntil(() => world.comparisons.length === 10);
  expect(world.leftOut).toBeGreaterThanOrEqual(lacking.length);
  expect(new Set(world.blamed.map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify({ node: 0, leftOut: 1, invented: 0 })]),
  );
});

test('logs of a new block do not wait for their comparison', async () => {
  const { world, ask } = openWorld();
  await askTen(() => ask({ blockHash: HASH }));
  expect(world.comparisons.toSorted()).toEqual([...Array(2).fill('compared'), ...Array(8).fill('skipped')]);
});

test('as many characters of questions wait as there is room for', () => {
  const later = new LaterComparisons();
  const [first, second] = fakeNodes([async () => null, async () => null], () => 0).endpoints;
  if (!first || !second) throw new Error('no nodes');
  const params = ['a'.repeat(MAX_WAITING_CHARS / 2 - 100)];
  const comparison = { question: { method: 'eth_getLogs', params }, first, second, given: { names: '', logs: 0 } };
  expect([1, 2, 3].map(() => later.add(comparison))).toEqual([true, true, false]);
  expect(later.take()).toEqual(comparison);
  expect([1, 2].map(() => later.add(comparison))).toEqual([true, false]);
});

test('logs of another block than was asked for, of the second node, are its fault, not of the first', async () => {
  const { world, rpc, ask } = openWorld();
  world.hasOthers = true;
  expect(await ask()).toEqual([log(0), log(1)]);
  expect([world.leftOut, world.blamed]).toEqual([0, [{ node: 1, leftOut: 0, invented: 1 }]]);
  expect(rpc.endpoints.map((node) => node.isLacking({ ability: 'wholeLogs' }))).toEqual([false, true]);
});
