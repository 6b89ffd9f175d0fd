import { numberToHex, pad } from 'viem';
import { expect, test } from 'vitest';

/**
 * The patches `failed-head`, `interrupted-reorganisation` and `child-addresses`: once what failed works again,
 * a chain is indexed as it is. The patches `insert-blocks` and `child-reads`: with few statements.
 */

const PONDER = import.meta.resolve('ponder');
const load = <T>(file: string) => import(new URL(file, PONDER).href) as Promise<T>;
const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
const common = {
  logger,
  shutdown: { add: nothing, isKilled: false },
};
const chain = { id: 1, name: 'test', pollingInterval: 100, finalityBlockCount: 30 };

const BRANCH = { main: '0x0', other: '0x1' } as const;

/** A block of one of two chains that share the blocks up to the second. */
const blockOf = (number: number, branch: keyof typeof BRANCH = 'main') => {
  const hash = (of: number) => pad(numberToHex(100 + of + (of > 2 ? 1_000 * Number(BRANCH[branch]) : 0)));
  return {
    number: numberToHex(number),
    hash: hash(number),
    parentHash: hash(number - 1),
    timestamp: numberToHex(number),
    logsBloom: pad('0xff', { size: 256 }),
    transactions: [],
  };
};

type Followed = { readonly type: string; readonly block: { readonly number: string } };

/** Ponder's live indexing after the first block, on a node that answers like this. */
async function followerOf(request: (request: { readonly params: readonly [string] }) => Promise<unknown>) {
  type Sync = { sync(block: object): AsyncGenerator<Followed> };
  const { createRealtimeSync } = await load<{ createRealtimeSync: (of: object) => Sync }>('sync-realtime/index.js');
  const sync = createRealtimeSync({
    common,
    chain,
    rpc: { request },
    eventCallbacks: [],
    childAddresses: new Map(),
    syncProgress: { finalized: blockOf(1) },
  });
  return async (head: object) => {
    const events: [string, number][] = [];
    for await (const { type, block } of sync.sync(head)) events.push([type, Number(block.number)]);
    return events;
  };
}

test('a head whose data could not be read is read again when it is still the head', async () => {
  let isDown = true;
  const follow = await followerOf(async ({ params }) => {
    if (isDown) throw new Error('the node is down');
    return blockOf(Number(params[0]));
  });
  expect(await follow(blockOf(3))).toEqual([]);
  isDown = false;
  expect(await follow(blockOf(3))).toEqual([
    ['block', 2],
    ['block', 3],
  ]);
});

test('a reorganisation that could not be read to its end is undone once it can be read', async () => {
  let isDown = false;
  const other = [3, 4, 5, 6].map((number) => blockOf(number, 'other'));
  const follow = await followerOf(async ({ params: [name] }) => {
    if (isDown) throw new Error('the node is down');
    return other.find(({ hash }) => hash === name) ?? blockOf(Number(name));
  });
  await follow(blockOf(5));
  isDown = true;
  expect(await follow(blockOf(5, 'other'))).toEqual([]);
  isDown = false;
  expect(await follow(blockOf(6, 'other'))).toEqual([['reorg', 2]]);
});

test('a pool is stored again when the transaction that stored it is tried again', async () => {
  type Sync = { syncBlockRangeData(of: object): Promise<unknown> };
  const { createHistoricalSync } = await load<{ createHistoricalSync: (of: object) => Sync }>(
    'sync-historical/index.js',
  );
  const [factoryAddress, child] = [pad('0xfa', { size: 20 }), pad('0xc1', { size: 20 })];
  const [id, eventSelector] = ['factory', pad('0xee')];
  const created = {
    address: factoryAddress,
    topics: [eventSelector, pad(child)],
    data: '0x',
    blockNumber: '0x5',
    blockHash: pad('0x5'),
    logIndex: '0x0',
    transactionHash: pad('0x7'),
    transactionIndex: '0x0',
    removed: false,
  };
  const sync = createHistoricalSync({
    common: { ...common, options: { factoryAddressCountThreshold: 1_000 } },
    chain,
    rpc: { request: async () => [created] },
    childAddresses: new Map([[id, new Map()]]),
  });
  const factory = {
    id,
    type: 'log',
    chainId: 1,
    address: factoryAddress,
    eventSelector,
    childAddressLocation: 'topic1',
  };
  const stored: string[][] = [];
  const attempt = () =>
    sync.syncBlockRangeData({
      interval: [1, 10],
      requiredIntervals: [],
      requiredFactoryIntervals: [{ factory, interval: [1, 10] }],
      syncStore: {
        insertChildAddresses: async ({ childAddresses }: { childAddresses: ReadonlyMap<string, number> }) => {
          stored.push([...childAddresses.keys()]);
        },
      },
    });
  await attempt();
  await attempt();
  expect(stored).toEqual([[child], [child]]);
});

test('of blocks that are read together, rows are stored together, each once', async () => {
  type Sync = { syncBlockData(of: object): Promise<unknown> };
  const { createHistoricalSync } = await load<{ createHistoricalSync: (of: object) => Sync }>(
    'sync-historical/index.js',
  );
  const numbers = Array.from({ length: 250 }, (_, index) => index + 1);
  const address = pad('0xc1', { size: 20 });
  const placeIn = ({ number: blockNumber, hash: blockHash }: ReturnType<typeof blockOf>) => ({
    blockNumber,
    blockHash,
    transactionIndex: '0x0',
  });
  const transactionOf = (number: number) => ({
    ...placeIn(blockOf(number)),
    hash: pad(numberToHex(number)),
    from: address,
    to: address,
    input: '0x',
    value: '0x0',
    nonce: '0x0',
    gas: '0x0',
    type: '0x0',
  });
  const logOf = (number: number) => ({
    ...placeIn(blockOf(number)),
    address,
    topics: [pad('0xee')],
    data: '0x',
    logIndex: '0x0',
    transactionHash: pad(numberToHex(number)),
  });
  const sync = createHistoricalSync({
    common,
    chain,
    childAddresses: new Map(),
    rpc: {
      request: async ({ params: [number] }: { readonly params: readonly [string] }) => ({
        ...blockOf(Number(number)),
        transactions: [transactionOf(Number(number))],
      }),
    },
  });
  const stored: number[][] = [];
  const insert =
    (name: string, place: string) =>
    async ({ [name]: rows = [] }: Record<string, readonly Record<string, string>[]>) => {
      if (rows.length > 0) stored.push(rows.map(({ [place]: number }) => Number(number)));
    };
  await sync.syncBlockData({
    interval: [1, 250],
    requiredIntervals: [{ filter: { type: 'log', chainId: 1, address, topic0: pad('0xee') }, interval: [1, 250] }],
    logs: numbers.map(logOf),
    syncStore: {
      insertBlocks: insert('blocks', 'number'),
      insertTransactions: insert('transactions', 'blockNumber'),
      insertTransactionReceipts: insert('transactionReceipts', 'blockNumber'),
      insertTraces: insert('traces', 'blockNumber'),
      insertLogs: insert('logs', 'blockNumber'),
    },
  });
  expect(stored.length).toBeLessThan(10);
  expect(stored.flat().sort((a, b) => a - b)).toEqual(numbers.flatMap((number) => [number, number, number]));
});

test('children of a factory are read once, however many of their events are followed', async () => {
  type Read = (of: object) => Promise<Map<string, ReadonlyMap<string, number>>>;
  const { getChildAddresses } = await load<{ getChildAddresses: Read }>('runtime/index.js');
  const filterOf = (id: string) => ({ type: 'log', address: { id, type: 'log' } });
  const read: string[] = [];
  const children = await getChildAddresses({
    filters: [{ type: 'log', address: pad('0xc1', { size: 20 }) }, ...['pools', 'providers', 'pools'].map(filterOf)],
    syncStore: {
      getChildAddresses: async ({ factory: { id } }: { readonly factory: { readonly id: string } }) => {
        read.push(id);
        return new Map([[`child of ${id}`, 7]]);
      },
    },
  });
  expect(read).toEqual(['pools', 'providers']);
  expect(children).toEqual(new Map(read.map((id) => [id, new Map([[`child of ${id}`, 7]])])));
});
