import { expect, test } from 'vitest';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import { SnapshotError } from '../snapshot-error.ts';
import { AccessLists } from './access-lists.ts';
import { LiveReader } from './live-reader.ts';
import { CHECK_MS, NO_LOGGER, OracleWorld, POINTER, POOL, REUSE_MS } from './oracle-world.fixture.ts';

/** A world that knows what its pool reads, and has read it since. */
async function knownWorld(): Promise<OracleWorld> {
  const world = new OracleWorld();
  for (const price of [4, 5]) {
    world.overrides = new Map([[1, price]]);
    await world.reader.depth(world.head, await world.reader.prices(world.head, { pool: POOL }));
    await world.settle();
  }
  expect(world.counts).toEqual({ prices: 2, depths: 2, lists: 1 });
  return world;
}

test('overrides that a price does not read cost no call, and its quote is of the newest of them', async () => {
  const world = await knownWorld();
  for (let change = 1; change <= 20; change += 1) {
    world.now += 100;
    // Another account, another slot of the account that the price reads, and both.
    if (change % 3 !== 0) world.foreign = change;
    if (change % 3 !== 1) world.overrides = new Map([...world.overrides, [7, change]]);
    expect(world.reader.isRead('depths', world.head, POOL)).toBe(true);
    const prices = await world.reader.prices(world.head, { pool: POOL });
    const depth = await world.reader.depth(world.head, prices);
    expect([prices.bidX64, depth.bidX64]).toEqual([5n, 5n]);
    expect([prices.block.pending?.digest, depth.block.pending?.digest]).toEqual(
      Array(2).fill(world.head.block.pending?.digest),
    );
  }
  expect(world.counts).toEqual({ prices: 2, depths: 2, lists: 1 });
  world.overrides = new Map([[1, 6]]);
  expect(world.reader.isRead('prices', world.head, POOL)).toBe(false);
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(6n);
  expect(world.counts.prices).toBe(3);
});

test('a pool that no override touches is not read in the block being built, but checked now and then', async () => {
  const world = await knownWorld();
  world.overrides = new Map();
  for (let time = 0; time < 10; time += 1) {
    world.foreign += 1;
    world.block += 1;
    expect((await world.reader.prices(world.head, { pool: POOL })).block.pending).toBeUndefined();
  }
  expect(world.counts.prices).toBe(2);
  world.now += CHECK_MS;
  world.foreign += 1;
  expect(world.reader.isRead('prices', world.head, POOL)).toBe(false);
  await world.reader.prices(world.head, { pool: POOL });
  expect(world.counts).toMatchObject({ prices: 3, lists: 1 });
});

test('a read that contradicts the list of a pool makes it unknown: each change is read until a new list comes', async () => {
  const world = await knownWorld();
  world.hasLists = false;
  // The price is now in a slot that the list lacks.
  world.base = new Map([[POINTER, 2]]);
  world.block += 1;
  world.overrides = new Map([[2, 50]]);
  expect((await world.reader.prices(world.head, { pool: POOL })).block.pending).toBeUndefined();
  world.now += CHECK_MS;
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(50n);
  for (const price of [51, 52]) {
    world.overrides = new Map([[2, price]]);
    expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(BigInt(price));
  }
  await world.settle();
  expect(world.counts.prices).toBe(5);
});

test('where nodes give no lists, every change is read', async () => {
  const world = new OracleWorld();
  world.hasLists = false;
  for (const foreign of [1, 2, 3]) {
    world.foreign = foreign;
    expect(world.reader.isRead('prices', world.head, POOL)).toBe(false);
    expect((await world.reader.prices(world.head, { pool: POOL })).block.pending).toBeUndefined();
  }
  expect(world.counts).toMatchObject({ prices: 3, lists: 1 });
});

test('a scheduled read without calls fails, so that its pool is not shown as committed', async () => {
  const world = await knownWorld();
  world.failure = 'exhausted';
  world.overrides = new Map([[1, 6]]);
  await expect(world.reader.prices(world.head, { pool: POOL })).rejects.toMatchObject({ code: 'exhausted' });
  world.failure = null;
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(6n);
});

test('a scheduled search for the end of a side without calls fails, too', async () => {
  const world = await knownWorld();
  world.overrides = new Map([[1, 6]]);
  const prices = await world.reader.prices(world.head, { pool: POOL });
  world.failure = 'exhausted';
  world.isProbing = true;
  await expect(world.reader.depth(world.head, prices)).rejects.toMatchObject({ code: 'exhausted' });
  // Where nodes do not answer it, what stands in is provisional.
  world.failure = 'unreachable';
  expect(await world.reader.depth(world.head, prices)).toMatchObject({ bidX64: 0n, isProvisional: true });
  world.failure = 'refused';
  expect(await world.reader.depth(world.head, prices)).not.toHaveProperty('isProvisional');
  expect(world.suspensions).toHaveLength(1);
});

test('a read that nodes did not give is made again at the next request, and says nothing of the list', async () => {
  const world = await knownWorld();
  world.failure = 'refused';
  world.overrides = new Map([[1, 6]]);
  expect((await world.reader.prices(world.head, { pool: POOL })).block.pending).toBeUndefined();
  expect([world.suspensions.length, world.reader.isRead('prices', world.head, POOL)]).toEqual([1, false]);
  world.failure = null;
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(6n);
  world.foreign += 1;
  expect(world.reader.isRead('prices', world.head, POOL)).toBe(true);
});

test('what stands in for a read that nodes did not give is provisional, its depth too', async () => {
  const world = await knownWorld();
  const before = await world.reader.prices(world.head, { pool: POOL });
  world.overrides = new Map([[1, 6]]);
  world.failure = 'unreachable';
  const prices = await world.reader.prices(world.head, { pool: POOL });
  expect(prices).toMatchObject({ bidX64: 0n, isProvisional: true });
  expect(await world.reader.depth(world.head, prices)).toMatchObject({ bidX64: 0n, isProvisional: true });
  // Of prices that were read, too.
  const read = { ...before, bidX64: 6n, fingerprint: '6', block: world.head.block };
  expect(await world.reader.depth(world.head, read)).toMatchObject({ bidX64: 0n, isProvisional: true });
  // Nodes that do not read the block being built give no more when they are asked again.
  world.failure = 'refused';
  expect(await world.reader.prices(world.head, { pool: POOL })).not.toHaveProperty('isProvisional');
  world.failure = null;
  expect(await world.reader.prices(world.head, { pool: POOL })).not.toHaveProperty('isProvisional');
});

test('a price that changes though no override in its list did makes the pool unknown', async () => {
  const world = await knownWorld();
  // With overrides alone, the price is now in a slot that the list lacks.
  world.overrides = new Map([
    [POINTER, 2],
    [2, 5],
  ]);
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(5n);
  world.overrides = new Map([...world.overrides, [2, 6]]);
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(5n);
  world.now += REUSE_MS;
  world.overrides = new Map([...world.overrides, [2, 7]]);
  expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(7n);
  for (const price of [8, 9]) {
    world.overrides = new Map([...world.overrides, [2, price]]);
    expect((await world.reader.prices(world.head, { pool: POOL })).bidX64).toBe(BigInt(price));
  }
});

test('depth is of the prices that it is asked for, and a pool without a live price is read at the committed head', async () => {
  const world = await knownWorld();
  const old = await world.reader.prices(world.head, { pool: POOL });
  world.overrides = new Map([[1, 6]]);
  const newer = await world.reader.prices(world.head, { pool: POOL });
  expect((await world.reader.depth(world.head, newer)).bidX64).toBe(6n);
  expect((await world.reader.depth(world.head, { ...old, block: newer.block })).bidX64).toBe(5n);
  // The word of before: no live price, and no further read.
  world.overrides = new Map([[1, 0]]);
  expect((await world.reader.prices(world.head, { pool: POOL })).block.pending).toBeUndefined();
  const { prices } = world.counts;
  expect(world.reader.isRead('depths', world.head, POOL)).toBe(true);
  await world.reader.prices(world.head, { pool: POOL });
  expect(world.counts.prices).toBe(prices);
});

test('a pool that is not known there is an error of its pool alone', async () => {
  const world = await knownWorld();
  const failing = new LiveReader({
    reader: {
      prices: async () => Promise.reject(new SnapshotError('read_failed', 'no pool')),
      depth: async () => Promise.reject(),
    },
    committed: { read: async () => new Map(), isRead: () => false, cached: () => undefined },
    heads: { suspend: () => false, sourceAge: () => ({}) },
    feed: { holders: () => null },
    accessLists: new AccessLists({
      rpc: fakeNodes([], () => 0),
      reserve: () => false,
      readTimeoutMs: 1,
      logger: NO_LOGGER,
      now: () => 0,
    }),
    reuseMs: REUSE_MS,
    now: () => 0,
  });
  await expect(failing.prices(world.head, { pool: POOL })).rejects.toMatchObject({ code: 'read_failed' });
});
