import { expect, test, vi } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { standStill } from '../../runtime/stand-still.fixture.ts';
import { HeadTracker } from '../heads/head-tracker.ts';
import { head } from '../heads/test-chain.fixture.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { pricedAt } from '../snapshot.fixture.ts';
import { PoolReader } from './pool-reader.ts';

const pool = flatPool(1);
const refusal = (code: number, message: string) => new RpcFailure('refused', message, { code, message });
const behind = refusal(-32_000, 'header not found');

/** How a read ends that does not end well at once. */
type End = RpcFailure | ((signal: AbortSignal | undefined) => Promise<unknown>);

/**
 * A chain of two nodes, of which the first one gives these heads, the last one again and again,
 * and reads that end as `ends` says, else well. Of depth, nodes refuse the first `refusedDepths` reads.
 */
async function openWorld(
  ends: readonly End[],
  given = [head(5)],
  { refusedDepths = 0, readTimeoutMs = 1_000 }: { refusedDepths?: number; readTimeoutMs?: number } = {},
) {
  const endpoints = ['a', 'b'].map(
    (name) => new RpcEndpoint(`http://${name}`, { timeoutMs: 10, count: () => undefined }),
  );
  const [a] = endpoints as [RpcEndpoint];
  const polls = { count: 0 };
  const poll = async (): Promise<ReportedHead> => {
    polls.count += 1;
    return { ...(given[polls.count - 1] ?? given.at(-1) ?? head(5)), endpoint: a };
  };
  const source = {
    head: poll,
    otherHeads: async () => [await poll()],
    header: () => Promise.reject(new Error('unknown')),
  };
  const clocks = { now: () => 0, wallClock: () => 0 };
  const heads = new HeadTracker<ReportedHead>(source, { blockTimeMs: 12_000, minRefreshMs: 500, ...clocks });
  const left = [...ends];
  const depths = { refused: 0 };
  const reader = new PoolReader({
    target: { rpc: { endpoints } as never },
    answers: {
      read: async ({ signal }, pools) => {
        const end = left.shift();
        if (end instanceof RpcFailure) throw end;
        await end?.(signal);
        return pools.map(() => ({}));
      },
    },
    decode: ({ pool: of }, block) => pricedAt(7n, of, block),
    sides: {
      read: async () => {
        if (depths.refused === refusedDepths) return { bids: [], asks: [], curve: undefined };
        depths.refused += 1;
        throw behind;
      },
      curve: async () => null,
    },
    heads,
    readTimeoutMs,
    logger: { warn: () => undefined },
    logUnknown: () => undefined,
    wallClock: () => 0,
  });
  const read = async () => reader.prices(await heads.head(), { pool });
  const readDepth = async () => {
    const at = await heads.head();
    return reader.depth(at, await reader.prices(at, { pool }));
  };
  return { a, depths, heads, left, polls, read, readDepth };
}

test('the node that has the head is not paused because another one, which is behind, refuses it', async () => {
  const { a, heads, left, read } = await openWorld([]);
  await read();
  left.push(behind);
  expect((await read()).block.number).toBe(5n);
  expect([a.breaker.isOpen, heads.current?.block.number]).toEqual([false, 5n]);
});

test('a node that gives nothing of the head that it reports is paused', async () => {
  const { a, read } = await openWorld([behind, behind]);
  await expect(read()).rejects.toBe(behind);
  expect(a.breaker.isOpen).toBe(true);
});

test('a head that a node refuses, and reports again, is read again: it may not have had it a moment before', async () => {
  const { left, read } = await openWorld([behind]);
  expect((await read()).block.number).toBe(5n);
  expect(left).toEqual([]);
});

test('a read follows the chain to a block that nodes give, over several that they refuse', async () => {
  const heads = [head(5), head(6), head(7), head(8)];
  const { left, read } = await openWorld([behind, behind, behind], heads);
  expect((await read()).block.number).toBe(8n);
  expect(left).toEqual([]);
});

test('a read ends where nodes refuse block after block, and where they refuse one for good', async () => {
  const heads = [5, 6, 7, 8, 9].map((number) => head(number));
  const { left, read } = await openWorld([behind, behind, behind, behind, behind], heads);
  await expect(read()).rejects.toBe(behind);
  expect(left).toHaveLength(1);
  const stuck = await openWorld([]);
  await stuck.read();
  stuck.left.push(behind, behind, behind);
  await expect(stuck.read()).rejects.toBe(behind);
  expect(stuck.left).toHaveLength(1);
});

test('depth follows the chain as far as prices do, and is of the block of its prices', async () => {
  const heads = [5, 6, 7, 8, 9].map((number) => head(number));
  const { readDepth } = await openWorld([], heads, { refusedDepths: 3 });
  expect((await readDepth()).block.number).toBe(8n);
  const replaced = await openWorld([], heads, { refusedDepths: 9 });
  await expect(replaced.readDepth()).rejects.toBe(behind);
  expect(replaced.depths.refused).toBe(4);
});

test('a process that stood still takes what nodes answered meanwhile, however long that was', async () => {
  const { left, read } = await openWorld([], [head(5)], { readTimeoutMs: 500 });
  left.push(async (signal) => {
    standStill(1_000);
    // What nodes answered is taken in further turns.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    signal?.throwIfAborted();
  });
  expect((await read()).block.number).toBe(5n);
});

test('a limit of requests is no sign that a block is missing: it costs no other read, and no poll', async () => {
  const { left, polls, read } = await openWorld([]);
  await read();
  const before = polls.count;
  const limited = refusal(-32_005, 'limit exceeded');
  for (let times = 0; times < 10; times += 1) {
    left.push(limited);
    await vi.waitFor(() => expect(read()).rejects.toBe(limited));
  }
  expect([polls.count, left]).toEqual([before, []]);
});
