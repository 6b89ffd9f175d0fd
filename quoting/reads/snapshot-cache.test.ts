import { toHex } from 'viem';
import { expect, test } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { standStill } from '../../runtime/stand-still.fixture.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { pricedAt, withOneLevel } from '../snapshot.fixture.ts';
import { HeadReplacedError } from '../snapshot-error.ts';
import { SnapshotCache, type SnapshotCacheDeps } from './snapshot-cache.ts';

const POOL = flatPool(1);
const headAt = (number: number): ReportedHead => ({
  block: { number: BigInt(number), hash: toHex(number, { size: 32 }), timestamp: 0n, parents: [] },
  endpoint: null,
});

/** A cache of a chain at a head, where a slow node is a failure for the request that called it. */
const cacheAt = (
  head: ReportedHead,
  read: SnapshotCacheDeps['reader']['prices'],
  heads: Partial<SnapshotCacheDeps['heads']> = {},
  readTimeoutMs = 1_000,
) =>
  new SnapshotCache({
    heads: {
      current: head,
      isBehind: false,
      fresh: () => head,
      head: async () => head,
      caughtUp: async () => true,
      isTooOld: () => false,
      ...heads,
    },
    reader: { prices: read, depth: async (_, prices) => withOneLevel(prices) },
    waitTimeoutMs: 1_000,
    readTimeoutMs,
    cacheBins: 100,
    slowIsUnavailable: false,
    observer: {},
  });

const depthAt = async (cache: SnapshotCache, at: ReportedHead) =>
  (await cache.depths([POOL], { at })).get(POOL.address);

test('a process that stood still takes the head that nodes gave meanwhile', async () => {
  const head = headAt(1);
  const { promise: polled, resolve: answer } = Promise.withResolvers<ReportedHead>();
  const heads = { fresh: () => undefined, head: () => polled };
  const cache = cacheAt(head, async ({ block }) => pricedAt(1n, POOL, block), heads, 500);
  const asked = cache.prices([POOL]);
  await nextTurn();
  standStill(1_000);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  answer(head);
  expect((await asked).get(POOL.address)).toMatchObject({ status: 'healthy' });
});

test('a pool that was not read because the chain advanced has not failed', async () => {
  const read = async ({ block }: ReportedHead) => pricedAt(1n, POOL, block);
  const committed = cacheAt(headAt(2), read);
  const live = cacheAt(headAt(1), async (head) => {
    const outcome = await depthAt(committed, head);
    throw outcome;
  });
  expect(await depthAt(live, headAt(1))).toMatchObject({ code: 'timed_out' });
});

test('a request that joined a read whose head was replaced reads by itself', async () => {
  const head = headAt(1);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let reads = 0;
  const cache = cacheAt(head, async ({ block }) => {
    reads += 1;
    if (reads > 1) return pricedAt(1n, POOL, block);
    await held;
    throw new HeadReplacedError();
  });
  const [scheduled, asked] = [depthAt(cache, head), cache.depths([POOL])];
  release();
  expect(await scheduled).toBeInstanceOf(HeadReplacedError);
  expect((await asked).get(POOL.address)).toMatchObject({ status: 'healthy' });
  expect(reads).toBe(2);
});

test('a provisional snapshot is served until its pool is read again', async () => {
  const head = headAt(1);
  let price = 1n;
  const befores: unknown[] = [];
  const cache = cacheAt(head, async ({ block }, { before }) => {
    befores.push(before);
    return pricedAt(price, POOL, block, { isProvisional: price === 1n });
  });
  const read = () => depthAt(cache, head);
  expect(await read()).toMatchObject({ bidX64: 1n });
  expect(cache.cached(POOL, 'depths')).toMatchObject({ bidX64: 1n });
  expect([cache.isRead(POOL, 'prices'), cache.isRead(POOL, 'depths')]).toEqual([false, false]);
  price = 2n;
  expect(await read()).toMatchObject({ bidX64: 2n });
  expect([cache.isRead(POOL, 'prices'), cache.isRead(POOL, 'depths')]).toEqual([true, true]);
  price = 3n;
  expect(await read()).toMatchObject({ bidX64: 2n });
  expect(befores).toEqual([undefined, undefined]);
});

test('a pool that was read at the block before is read at the head once nodes have it', async () => {
  const head = headAt(2);
  let at = headAt(1);
  const cache = cacheAt(head, async () => pricedAt(1n, POOL, at.block));
  expect(await depthAt(cache, head)).toMatchObject({ block: at.block });
  expect([cache.cached(POOL, 'depths'), cache.isRead(POOL, 'depths')]).toEqual([undefined, false]);
  at = head;
  expect(await depthAt(cache, head)).toMatchObject({ block: head.block });
  expect(cache.isRead(POOL, 'depths')).toBe(true);
});

test('nodes that are slow fail the read that called them', async () => {
  const slow = cacheAt(headAt(1), async () => {
    throw new RpcFailure('timeout', 'the node is slow');
  });
  expect(await depthAt(slow, headAt(1))).toMatchObject({ code: 'read_failed' });
});
