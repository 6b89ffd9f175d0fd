import { expect, test } from 'vitest';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { COMPARED_SHARE, LogsOfTwo, WATCHED_MS } from './logs-of-two.ts';

const QUESTION = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x1' }] };
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
    leftOut: 0,
    comparisons: [] as string[],
    blamed: [] as { readonly node: number; readonly leftOut: number; readonly invented: number }[],
  };
  const node = (place: 0 | 1) => async (method: string) => {
    if (method === 'eth_getTransactionReceipt') return { blockHash: HASH, logs: [log(0), log(1)] };
    world.asked[place] += 1;
    if (world.isRefusing && place === 1) throw new RpcFailure('refused', 'too wide');
    if (world.hasOthers && place === 1) return [log(0), log(1), { ...log(2), blockHash: OTHER, blockNumber: '0x2' }];
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
  return { world, rpc, ask: async () => ((await logs.answer(rpc, QUESTION, asNodesDo)) as { result: unknown }).result };
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

test('at most two answers at a time are compared with those of a node, and it is counted how many more were to be', async () => {
  const { world, ask } = openWorld();
  await Promise.all(Array.from({ length: 10 }, ask));
  expect(world.asked).toEqual([10, 2]);
  expect(world.comparisons.sort()).toEqual([...Array(2).fill('compared'), ...Array(8).fill('skipped')]);
  Object.assign(world, { now: WATCHED_MS });
  await Promise.all(Array.from({ length: 10 }, ask));
  expect(world.comparisons).toHaveLength(10);
});

test('logs of another block than was asked for, of the second node, are its fault, not of the first', async () => {
  const { world, rpc, ask } = openWorld();
  world.hasOthers = true;
  expect(await ask()).toEqual([log(0), log(1)]);
  expect([world.leftOut, world.blamed]).toEqual([0, [{ node: 1, leftOut: 0, invented: 1 }]]);
  expect(rpc.endpoints.map((node) => node.isLacking({ ability: 'wholeLogs' }))).toEqual([false, true]);
});
