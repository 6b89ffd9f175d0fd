import { type Address, type Hex, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { type FakeNode, fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { AccessLists } from './access-lists.ts';

const FEEDS: Address = numberToHex(0xfeed, { size: 20 });
const LIST_MS = 300_000;
const CHECK_MS = 30_000;
const slot = (number: number): Hex => numberToHex(number, { size: 32 });
const pools = Array.from({ length: 8 }, (_, number) => flatPool(number + 1));
const [pool = flatPool(1)] = pools;

/** Block `number`, with overrides of these slots of the feeds. */
function blockWith(number: number, ...slots: readonly number[]): BlockRef {
  const overrides = new Map([[FEEDS, new Map(slots.map((each) => [slot(each), slot(99)]))]]);
  const pending = { blockNumber: 9n, timestamp: 9n, overrides, digest: `${slots}`, receivedAt: 0 };
  return { hash: slot(number), number: BigInt(number), timestamp: 0n, pending };
}

/** The same without overrides: a committed block. */
const block = (number: number): BlockRef => ({ hash: slot(number), number: BigInt(number), timestamp: 0n });

function openLists() {
  const world = {
    now: 0,
    read: [1],
    /** In all storage, as a trace shows it. */
    word: 99,
    reads: 0,
    failure: null as RpcFailure | null,
    held: null as Promise<void> | null,
    budget: 100,
  };
  const node: FakeNode = async (method, [call]) => {
    world.reads += 1;
    await world.held;
    if (world.failure) throw world.failure;
    const asked = pools.find(({ address }) => (call as { data: Hex }).data.includes(address.slice(2)));
    const own = asked && world.read.length > 0 ? [{ address: asked.address, storageKeys: [slot(7)] }] : [];
    const accessList = [...own, { address: FEEDS, storageKeys: world.read.map(slot) }];
    if (method === 'eth_createAccessList') return { accessList };
    const words = (keys: readonly Hex[]) => Object.fromEntries(keys.map((key) => [key, slot(world.word)]));
    const read = accessList.map(({ address, storageKeys }) => [
      address,
      { balance: '0x0', storage: words(storageKeys) },
    ]);
    return Object.fromEntries([...read, [numberToHex(0, { size: 20 }), { balance: '0x0' }]]);
  };
  const lists = new AccessLists({
    rpc: fakeNodes([node], () => world.now),
    reserve: () => {
      world.budget -= 1;
      return world.budget >= 0;
    },
    readTimeoutMs: 1_000,
    logger: { info: () => undefined, warn: () => undefined },
    now: () => world.now,
  });
  return { world, lists };
}

test('a list says which overrides a price reads, for five minutes, and is checked every half minute', async () => {
  const { world, lists } = openLists();
  const [touched, beside] = [blockWith(2, 1), blockWith(2, 2)];
  expect([lists.isUntouched(pool, beside), lists.touching(pool, beside)]).toEqual([false, null]);
  await lists.learn(pool, block(1), true);
  expect([lists.isUntouched(pool, beside), lists.touching(pool, beside)]).toEqual([true, '']);
  expect([lists.isUntouched(pool, touched), lists.touching(pool, touched)]).toEqual([
    false,
    expect.stringContaining(slot(99)),
  ]);
  world.now = CHECK_MS;
  expect(lists.isUntouched(pool, beside)).toBe(false);
  lists.confirm(pool);
  expect(lists.isUntouched(pool, beside)).toBe(true);
  await lists.learn(pool, block(2), true);
  world.now = LIST_MS;
  lists.confirm(pool);
  expect(lists.isUntouched(pool, beside)).toBe(false);
  await lists.learn(pool, block(3), true);
  expect([lists.isUntouched(pool, beside), world.reads]).toEqual([true, 2]);
});

test('the list of a pool without a price is of its block alone: the read may have ended before it read everything', async () => {
  const { world, lists } = openLists();
  await lists.learn(pool, block(1), false);
  expect([lists.isUntouched(pool, blockWith(1, 2)), lists.isUntouched(pool, blockWith(2, 2))]).toEqual([true, false]);
  // What else it would read there with these overrides is unknown.
  expect(lists.touching(pool, blockWith(1, 1))).toBeNull();
  world.read = [1, 2];
  await lists.learn(pool, block(2), false);
  expect(world.reads).toBe(1);
  await lists.learn(pool, block(2), true);
  expect(lists.touching(pool, blockWith(3, 2))).toContain(slot(99));
});

test('a list that was read with overrides is as one of a committed block', async () => {
  const { world, lists } = openLists();
  world.read = [1, 3];
  await lists.learn(pool, blockWith(1, 1), true);
  expect([lists.isUntouched(pool, blockWith(2, 2)), lists.isUntouched(pool, blockWith(2, 3))]).toEqual([true, false]);
  expect(lists.touching(pool, blockWith(3, 1))).toContain(slot(99));
  world.failure = new RpcFailure('refused', 'no such method');
  for (const each of pools) await lists.learn(each, blockWith(1, 1), true);
  expect(world.reads).toBe(2);
  world.failure = null;
  await lists.learn(flatPool(2), block(1), true);
  expect(world.reads).toBe(3);
});

test.each([
  ['ignores overrides', { word: 1 }],
  ['shows none', { read: [3] }],
])('a trace that %s teaches nothing, and none is made for a minute', async (_, shown) => {
  const { world, lists } = openLists();
  Object.assign(world, shown);
  for (const each of pools) await lists.learn(each, blockWith(1, 1), true);
  expect([lists.isUntouched(pool, blockWith(2, 2)), world.reads]).toEqual([false, 1]);
  world.now = 60_000;
  Object.assign(world, { word: 99, read: [1] });
  await lists.learn(pool, blockWith(1, 1), true);
  expect(lists.isUntouched(pool, blockWith(2, 2))).toBe(true);
});

test('after a contradiction no list of the pool is trusted for five minutes', async () => {
  const { world, lists } = openLists();
  await lists.learn(pool, block(1), true);
  lists.distrust(pool, blockWith(2));
  await lists.learn(pool, block(2), true);
  expect([lists.isUntouched(pool, blockWith(2, 2)), lists.touching(pool, blockWith(2, 2)), world.reads]).toEqual([
    false,
    null,
    1,
  ]);
  world.now = LIST_MS;
  await lists.learn(pool, block(3), true);
  expect(lists.isUntouched(pool, blockWith(3, 2))).toBe(true);
});

test('a list without storage of the pool is none', async () => {
  const { world, lists } = openLists();
  world.read = [];
  await lists.learn(pool, block(1), true);
  expect(lists.isUntouched(pool, blockWith(1, 2))).toBe(false);
});

test('a pool that is listed with other properties is unknown', async () => {
  const { lists } = openLists();
  await lists.learn(pool, block(1), true);
  expect(lists.isUntouched({ ...pool }, blockWith(1, 2))).toBe(false);
});

test('at most four lists are read at the same time, each at a call of the budget', async () => {
  const { world, lists } = openLists();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  world.held = promise;
  world.budget = 5;
  const reads = pools.map((each) => lists.learn(each, block(1), true));
  expect(world.reads).toBe(4);
  release();
  await Promise.all(reads);
  for (const each of pools) await lists.learn(each, block(1), true);
  expect(world.reads).toBe(5);
});

test('where nodes give none, one is tried every minute', async () => {
  const { world, lists } = openLists();
  world.failure = new RpcFailure('refused', 'no such method');
  for (const each of pools) await lists.learn(each, block(1), true);
  expect(world.reads).toBe(1);
  world.failure = null;
  world.now = 59_999;
  await lists.learn(pool, block(1), true);
  expect(world.reads).toBe(1);
  world.now = 60_000;
  for (const each of pools) await lists.learn(each, block(1), true);
  expect(world.reads).toBe(1 + pools.length);
});
