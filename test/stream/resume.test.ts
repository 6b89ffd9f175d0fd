import type { Address } from 'viem';
import { expect, test } from 'vitest';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient } from './simulated-client.ts';
import { settle, stopTimers } from './simulated-time.ts';

const RICH = { callsPerMinute: 100_000 };

stopTimers();

/** A chain of four pools with two processes, in each of which another client holds all pools. */
async function start() {
  const chain = new SimulatedChain(4);
  const [one, other] = [chain.startProcess(RICH), chain.startProcess(RICH)];
  const all = async (...changed: readonly number[]) => {
    chain.mine(changed);
    for (const { heads } of [one, other]) heads.push(chain.head);
    await settle();
  };
  const push = async () => {
    one.heads.push(chain.head);
    await settle();
  };
  const nextBlock = () => {
    chain.mine([]);
    return push();
  };
  return {
    chain,
    push,
    nextBlock,
    connect: await connectTo(one),
    other: { nextBlock: all, connect: await connectTo(other) },
  };
}

async function connectTo({ stream }: ReturnType<SimulatedChain['startProcess']>) {
  const connect = async (pools: readonly ServedPool[] | 'all', depth: boolean, book?: SimulatedClient['book']) => {
    const client = new SimulatedClient({ pools, depth, hasKey: true });
    if (book) client.book = book;
    await client.connect(stream);
    return client;
  };
  for (const depth of [true, false]) await connect('all', depth);
  await settle();
  return connect;
}

test.each([true, false])('after a resume with nothing missed a heartbeat comes at once (depth %s)', async (depth) => {
  const { chain, connect, nextBlock } = await start();
  // What changed at the block of the id is sent again.
  await nextBlock();
  const before = await connect(chain.pools, depth);
  before.cut();
  const sentBefore = before.book.events.length;
  const after = await connect(chain.pools, depth, before.book);
  expect(after.book.events.slice(sentBefore)).toEqual(['heartbeat']);
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

test.each([0, 1, 2, 3, 4])(
  'a pool that is subscribed to while a block is read is no quote of that block before it is read (after %i turns)',
  async (turns) => {
    const chain = new SimulatedChain(2);
    const [kept, left] = chain.pools as [ServedPool, ServedPool];
    const { heads, stream } = chain.startProcess(RICH);
    const connect = async (pool: ServedPool) => {
      const client = new SimulatedClient({ pools: [pool], depth: false, hasKey: true });
      await client.connect(stream);
      return client;
    };
    await connect(kept);
    (await connect(left)).cut();
    await settle();
    // Nobody requested it for longer than it is kept.
    for (let block = 0; block < 7; block++) chain.mine([1]);
    heads.push(chain.head);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    const client = await connect(left);
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate);
      const shown = client.book.quotes.get(left.address)?.quote as { bidAdj?: string } | undefined;
      if (client.hash && shown) expect(shown.bidAdj).toBe(chain.priceAt(client.hash, left.address));
    }
    expect(client.hash).toBe(chain.head.block.hash);
  },
);

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

test.each(['named', 'all'] as const)(
  'a pool that was removed meanwhile is forgotten, the others are sent again: %s',
  async (pools) => {
    const { chain, connect, nextBlock } = await start();
    const wish = pools === 'all' ? pools : chain.pools;
    const before = await connect(wish, true);
    before.cut();
    const sentBefore = before.book.events.length;
    const [removed] = chain.pools as [ServedPool];
    chain.table.remove(removed, 'not_served');
    await nextBlock();
    const after = await connect(wish, true, before.book);
    expect(after.book.events.slice(sentBefore)).toEqual(['gap', 'snapshot']);
    expect([after.book.quotes.size, after.book.quotes.has(removed.address)]).toEqual([3, false]);
    expect([...after.book.failed]).toEqual(pools === 'all' ? [] : [[removed.address, 404]]);
  },
);

test('a client that resumes with all pools while one is being removed does not keep its quote', async () => {
  const { chain, connect, nextBlock } = await start();
  const before = await connect('all', true);
  before.cut();
  const [removed] = chain.pools as [ServedPool];
  chain.table.remove(removed, 'not_served');
  const after = await connect('all', true, before.book);
  await nextBlock();
  expect(after.book.quotes.has(removed.address)).toBe(false);
  expect(after.book.quotes.size).toBe(3);
});

test('another process resumes after a block that it read too, and sends what changed since', async () => {
  const { chain, connect, other } = await start();
  await other.nextBlock();
  const before = await connect(chain.pools, true);
  before.cut();
  const sentBefore = before.book.events.length;
  await other.nextBlock(1);
  const after = await other.connect(chain.pools, true, before.book);
  expect(after.book.events.slice(sentBefore)).toEqual(['update']);
  expect([after.book.quotes.size, after.hash]).toEqual([4, chain.head.block.hash]);
});

test('a process that did not read the block, or of whose chain it no longer is, sends all quotes as updates', async () => {
  const { chain, connect, push, nextBlock, other } = await start();
  await nextBlock();
  const before = await connect(chain.pools, true);
  before.cut();
  for (const reconnect of [
    async () => {
      // It looks the head up as the client connects.
      chain.mine([]);
      return other.connect(chain.pools, true, before.book);
    },
    async () => {
      chain.reorganise(2, 1, []);
      await push();
      return connect(chain.pools, true, before.book);
    },
  ]) {
    const { lastId, events } = before.book;
    const sentBefore = events.length;
    const after = await reconnect();
    await settle();
    expect(events[sentBefore]).toBe('update');
    expect(events.slice(sentBefore)).not.toContain('gap');
    expect(after.hash).toBe(chain.head.block.hash);
    for (const [pool, { quote }] of after.book.quotes) {
      expect((quote as { bidAdj?: string }).bidAdj).toBe(chain.priceAt(chain.head.block.hash, pool as Address));
    }
    after.cut();
    before.book.lastId = lastId;
  }
});

test('a process that never read the pools sends all quotes as updates', async () => {
  const { chain, connect, nextBlock } = await start();
  await nextBlock();
  const before = await connect(chain.pools, true);
  before.cut();
  const sentBefore = before.book.events.length;
  chain.mine([1]);
  const after = new SimulatedClient({ pools: chain.pools, depth: true, hasKey: true });
  after.book = before.book;
  await after.connect(chain.startProcess(RICH).stream);
  await settle();
  expect(new Set(after.book.events.slice(sentBefore))).toEqual(new Set(['update']));
  expect([after.book.quotes.size, after.hash]).toEqual([4, chain.head.block.hash]);
});

test('an id of an earlier release, which does not say whether quotes were live, resumes with all quotes as updates', async () => {
  const { chain, connect, nextBlock } = await start();
  await nextBlock();
  const before = await connect(chain.pools, true);
  before.cut();
  const [number, hash, poolSet] = before.book.lastId?.split('-') ?? [];
  before.book.lastId = [number, hash, poolSet].join('-');
  const sentBefore = before.book.events.length;
  const after = await connect(chain.pools, true, before.book);
  expect(new Set(after.book.events.slice(sentBefore))).toEqual(new Set(['update']));
  expect([after.book.quotes.size, after.hash]).toEqual([4, chain.head.block.hash]);
});

test.each(['', 'x', '1-0x12-zz', '-', '--', `1-0x${'a'.repeat(64)}`])(
  'an id that no message had begins again: %j',
  async (id) => {
    const { chain, connect } = await start();
    const before = await connect(chain.pools, false);
    before.cut();
    before.book.lastId = id;
    const sentBefore = before.book.events.length;
    const after = await connect(chain.pools, false, before.book);
    expect(after.book.events.slice(sentBefore)).toEqual(['gap', 'snapshot']);
  },
);

test('after a message that does not complete its block nobody resumes', async () => {
  const { chain, connect, nextBlock } = await start();
  const [broken] = chain.pools as [ServedPool];
  chain.failing.add(broken.address);
  await nextBlock();
  const before = await connect(chain.pools, true);
  expect(before.book.failed.has(broken.address)).toBe(true);
  expect(before.book.lastId).toBeUndefined();
  chain.failing.clear();
  await nextBlock();
  expect(before.book.lastId).toBeDefined();
});

test('after 256 blocks a connection is sent what changed, after more all', async () => {
  const { chain, connect, nextBlock } = await start();
  for (const [blocks, sentBefore] of [
    [255, 'heartbeat'],
    [256, 'update'],
  ] as const) {
    await nextBlock();
    const before = await connect(chain.pools, false);
    before.cut();
    const count = before.book.events.length;
    for (let block = 0; block < blocks; block++) await nextBlock();
    const after = await connect(chain.pools, false, before.book);
    expect(after.book.events[count]).toBe(sentBefore);
    after.cut();
  }
});
