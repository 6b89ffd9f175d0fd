import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ServedPool } from '../../api/snapshots/pool-directory.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient } from './simulated-client.ts';

const RICH = { callsPerMinute: 100_000 };

const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A chain of four pools that another client holds, so that its process knows them all the while. */
async function start() {
  const chain = new SimulatedChain(4);
  const { clock, hub } = chain.startProcess('e', RICH);
  const connect = async (pools: readonly ServedPool[] | 'all', depth: boolean, book?: SimulatedClient['book']) => {
    const client = new SimulatedClient({ pools, depth, hasKey: true });
    if (book) client.book = book;
    await client.connect(hub, (pool) => chain.table.find(pool.chainId, pool.address) !== undefined);
    return client;
  };
  for (const depth of [true, false]) await connect(chain.pools, depth);
  await settle();
  const nextBlock = async () => {
    chain.mine([]);
    clock.push(chain.head);
    await settle();
  };
  return { chain, connect, nextBlock };
}

test.each([true, false])('after a resume with nothing missed a heartbeat comes at once (depth %s)', async (depth) => {
  const { chain, connect } = await start();
  const before = await connect(chain.pools, depth);
  before.cut();
  const told = before.book.events.length;
  const after = await connect(chain.pools, depth, before.book);
  expect(after.book.events.slice(told)).toEqual(['heartbeat']);
  expect(after.hash).toBe(chain.head.block.hash);
});

test('prevSeq is null in the first message of a connection that resumes', async () => {
  const { chain, connect, nextBlock } = await start();
  const before = await connect(chain.pools, true);
  await nextBlock();
  before.cut();
  const after = await connect(chain.pools, true, before.book);
  await nextBlock();
  expect([before.fault, after.fault]).toEqual([undefined, undefined]);
});

test.each([
  ['one more', [0, 1], [0, 1, 2]],
  ['one in place of another', [0, 1], [0, 2]],
])('a pool that is added on a resume is sent at once: %s', async (_name, first, then) => {
  const { chain, connect } = await start();
  const some = (indexes: readonly number[]) => chain.pools.filter((_, index) => indexes.includes(index));
  const before = await connect(some(first), true);
  before.cut();
  const after = await connect(some(then), true, before.book);
  for (const { address } of some(then)) expect(after.book.quotes.has(address)).toBe(true);
  expect(after.hash).toBe(chain.head.block.hash);
});

test('a pool that was removed meanwhile is told as removed, and the others are not sent again', async () => {
  const { chain, connect, nextBlock } = await start();
  const before = await connect(chain.pools, true);
  before.cut();
  const told = before.book.events.length;
  const [gone] = chain.pools as [ServedPool];
  chain.table.remove(gone);
  await nextBlock();
  const after = await connect(chain.pools, true, before.book);
  expect([...after.book.removed]).toEqual([gone.address]);
  expect(after.book.events.slice(told)).toEqual(['removed', 'heartbeat']);
});

test('who resumes with all pools while one is being removed does not keep its quote', async () => {
  const { chain, connect, nextBlock } = await start();
  const before = await connect('all', true);
  before.cut();
  const [gone] = chain.pools as [ServedPool];
  chain.table.remove(gone);
  const after = await connect('all', true, before.book);
  await nextBlock();
  expect(after.book.quotes.has(gone.address)).toBe(false);
  expect(after.book.quotes.size).toBe(3);
});
