import fc from 'fast-check';
import { type Address, type Hex, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { DepthSnapshot, PriceSnapshot, Snapshot } from '../types.ts';
import { AccessLists } from './access-lists.ts';
import { LiveReader } from './live-reader.ts';

const POOL = flatPool(1);
const REGISTRY = numberToHex(0xfeed, { size: 20 });
const OTHER = numberToHex(0xbeef, { size: 20 });
const REUSE_MS = 4_000;
const CHECK_MS = 30_000;
/** Slot 0 of the registry names the slot that holds the price. */
const POINTER = 0;
const slotOf = (slot: number): Hex => numberToHex(slot, { size: 32 });

type Storage = ReadonlyMap<number, number>;

const NO_LOGGER = { info: () => undefined, warn: () => undefined };

/** A node whose pool has the price that the registry's pointer names; time is a number. */
class OracleWorld {
  now = 1_000;
  block = 1;
  base: Storage = new Map([[POINTER, 1]]);
  overrides: Storage = new Map();
  /** Words of an account that no pool reads. */
  foreign = 0;
  /** Of the pool: reads in the block being built, depths there, access lists. */
  readonly counts = { prices: 0, depths: 0, lists: 0 };
  failure: 'exhausted' | 'refused' | 'unreachable' | null = null;
  readonly suspensions: string[] = [];
  hasLists = true;
  readonly reader: LiveReader;

  constructor() {
    const now = () => this.now;
    const rpc = fakeNodes([this.#answer], now);
    this.reader = new LiveReader({
      reader: { prices: (head) => this.#read(head), depth: async (_, prices) => this.#depth(prices) },
      committed: {
        read: async (kind) =>
          new Map([[POOL.address, kind === 'depths' ? withDepth(this.#committed) : this.#committed]]) as never,
        isRead: () => true,
        cached: () => this.#committed,
      },
      heads: {
        suspend: () => void this.suspensions.push('suspended'),
        sourceAge: ({ pending }) => (pending ? { sourceAgeMs: this.now } : {}),
      },
      accessLists: new AccessLists({ rpc, reserve: () => true, readTimeoutMs: 1_000, logger: NO_LOGGER, now }),
      reuseMs: REUSE_MS,
      now,
    });
  }

  /** The block being built, or the committed one while nothing is overridden. */
  get head(): ReportedHead {
    const pending = this.#pending;
    const block = { hash: slotOf(this.block), number: BigInt(this.block), timestamp: BigInt(this.block), parents: [] };
    return { block: pending ? { ...block, pending } : block, endpoint: null };
  }

  /** The price where the pool has a live one, derived without the reader; else null. */
  get livePrice(): number | null {
    const live = priceIn(new Map([...this.base, ...this.overrides]));
    return live === priceIn(this.base) ? null : live;
  }

  /** Lets the list that a read made arrive. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    await new Promise(setImmediate);
  }

  get #pending() {
    if (this.overrides.size === 0 && this.foreign === 0) return undefined;
    const registry = new Map([...this.overrides].map(([slot, value]) => [slotOf(slot), slotOf(value)]));
    const overrides: StateOverrides = new Map<Address, ReadonlyMap<Hex, Hex>>([
      [REGISTRY, registry],
      [OTHER, new Map([[slotOf(1), slotOf(this.foreign)]])],
    ]);
    const digest = JSON.stringify([...this.overrides, this.foreign]);
    const blockNumber = BigInt(this.block + 1);
    return { blockNumber, timestamp: blockNumber, overrides, digest, receivedAt: performance.now() };
  }

  get #committed(): PriceSnapshot {
    const { pending: _, ...block } = this.head.block;
    return snapshotOf(block, priceIn(this.base), false);
  }

  async #read({ block }: ReportedHead): Promise<PriceSnapshot> {
    this.counts.prices += 1;
    if (this.failure) throw new RpcFailure(this.failure, 'the read failed');
    const price = priceIn(new Map([...this.base, ...this.overrides]));
    return snapshotOf(block, price, price !== priceIn(this.base));
  }

  #depth(prices: PriceSnapshot): DepthSnapshot {
    this.counts.depths += 1;
    if (this.failure) throw new RpcFailure(this.failure, 'the read failed');
    return withDepth(prices);
  }

  readonly #answer = async () => {
    this.counts.lists += 1;
    if (!this.hasLists) throw new RpcFailure('refused', 'no such method');
    const slots = [POINTER, this.base.get(POINTER) ?? 0].map(slotOf);
    return {
      accessList: [
        { address: POOL.address, storageKeys: [slotOf(9)] },
        { address: REGISTRY, storageKeys: slots },
      ],
    };
  };
}

const priceIn = (storage: Storage): number => storage.get(storage.get(POINTER) ?? 0) ?? 0;

const snapshotOf = (block: Snapshot['block'], price: number, hasLivePrice: boolean): PriceSnapshot => ({
  pool: POOL,
  block,
  readAt: 0,
  status: 'healthy',
  bidX64: BigInt(price),
  askX64: BigInt(price) + 1n,
  balance0Raw: 0n,
  balance1Raw: 0n,
  depth: null,
  curve: null,
  limits: {} as PriceSnapshot['limits'],
  hasLivePrice,
  fingerprint: `${price}`,
});

const withDepth = ({ fingerprint: _, curve: __, ...snapshot }: PriceSnapshot): DepthSnapshot => ({
  ...snapshot,
  depth: { bids: [], asks: [] },
});

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

const step = fc.oneof(
  fc.record({
    kind: fc.constant('word' as const),
    slot: fc.integer({ min: 1, max: 3 }),
    value: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ kind: fc.constant('pointer' as const), value: fc.integer({ min: 1, max: 3 }), isBase: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('foreign' as const, 'drop' as const, 'block' as const) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 2 * CHECK_MS }) }),
);

function apply(world: OracleWorld, each: typeof step extends fc.Arbitrary<infer S> ? S : never): void {
  world.now += 50;
  if (each.kind === 'word') world.overrides = new Map([...world.overrides, [each.slot, each.value]]);
  else if (each.kind === 'pointer' && !each.isBase)
    world.overrides = new Map([...world.overrides, [POINTER, each.value]]);
  else if (each.kind === 'foreign') world.foreign += 1;
  else if (each.kind === 'drop') world.overrides = new Map();
  else if (each.kind === 'wait') world.now += each.ms;
  else {
    world.block += 1;
    if (each.kind === 'pointer') world.base = new Map([...world.base, [POINTER, each.value]]);
  }
}

test('whatever changes, a price that is wrong for its state is corrected within the time that reads are used again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), fc.boolean(), async (steps, mayMove) => {
      const world = new OracleWorld();
      let wrongSince: number | null = null;
      for (const each of steps) {
        if (each.kind === 'pointer' && !mayMove) continue;
        apply(world, each);
        const { bidX64, block } = await world.reader.prices(world.head, { pool: POOL });
        await world.settle();
        const expected = world.livePrice ?? priceIn(world.base);
        const isRight = bidX64 === BigInt(expected) && (block.pending !== undefined) === (world.livePrice !== null);
        // What prices read moves in the chain or with overrides alone: otherwise they are never wrong.
        if (!isRight) expect(mayMove).toBe(true);
        wrongSince = isRight ? null : (wrongSince ?? world.now);
        const bound = block.pending ? REUSE_MS : CHECK_MS;
        if (wrongSince !== null) expect(world.now - wrongSince).toBeLessThan(bound);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a pool that is not known there is an error of its pool alone', async () => {
  const world = await knownWorld();
  const failing = new LiveReader({
    reader: {
      prices: async () => Promise.reject(new SnapshotError('read_failed', 'no pool')),
      depth: async () => Promise.reject(),
    },
    committed: { read: async () => new Map(), isRead: () => false, cached: () => undefined },
    heads: { suspend: () => undefined, sourceAge: () => ({}) },
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
