import { pad } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import { blockOf, muteRedials, ok, openPonder, startNode } from './ponder-client.fixture.ts';

beforeAll(muteRedials);

/** Logs of blocks 5 to 8, two in each, in two transactions. */
const chainLogs = [5, 6, 7, 8].flatMap((number) =>
  [0, 1].map((index) => ({
    address: pad('0xa', { size: 20 }),
    topics: [pad('0xfeed')],
    data: '0x01',
    blockNumber: `0x${number}`,
    blockHash: blockOf(number).hash,
    transactionHash: pad(`0x${number}${index}`),
    logIndex: `0x${index}`,
    removed: false,
  })),
);
type ChainLog = (typeof chainLogs)[0];
const invented = { ...chainLogs[0], logIndex: '0x9', data: '0x02' } as ChainLog;
const moved = chainLogs.map((log) => (log.blockNumber === '0x6' ? { ...log, blockNumber: '0x7' } : log));
const without = (...places: readonly number[]) => chainLogs.filter((_, place) => !places.includes(place));

/** A node that gives these logs, and receipts of these up to a block. */
function logNode(logs: (path: string) => readonly ChainLog[], highest = 8, receipts: readonly ChainLog[] = chainLogs) {
  return startNode(({ method, params = [] }, path) => {
    if (method === 'eth_getLogs') return ok(logs(path));
    if (receipts.length === 0) return { status: 403, body: 'no receipts' };
    const all = receipts.filter(({ transactionHash }) => transactionHash === params[0]);
    const [first] = all;
    return ok(first && Number(first.blockNumber) <= highest ? { blockHash: first.blockHash, logs: all } : null);
  });
}

const range = { method: 'eth_getLogs', params: [{ fromBlock: '0x5', toBlock: '0x8' }] };

test('of logs outside the range that was asked for, another node is asked', async () => {
  const nodes = [await logNode(() => chainLogs), await logNode(() => chainLogs.slice(0, 6))];
  const { rpc, blamed } = await openPonder(nodes);
  const narrow = { method: 'eth_getLogs', params: [{ fromBlock: '0x5', toBlock: '0x7' }] };
  // Until Ponder, which chooses by latency and by chance, asks the other node.
  await vi.waitUntil(async () => {
    expect(await rpc.request(narrow)).toEqual(chainLogs.slice(0, 6));
    return blamed.length > 0;
  });
  expect(blamed).toContainEqual({ chainId: 1, node: 'rpcUrls[0]', leftOut: 0, invented: 2 });
});

/** A node that gives these logs of any range or block, and the blocks of these numbers. */
const movingNode = (logs: readonly ChainLog[], receivers: string[] = []) =>
  startNode(({ method, params: [of] = [] }) => {
    receivers.push(method);
    if (method === 'eth_getLogs') return ok(logs);
    return ok([5, 6, 7, 8].map(blockOf).find(({ hash, number }) => of === hash || of === number) ?? null);
  });
const blockAt = (number: string) => ({ method: 'eth_getBlockByNumber', params: [number, true] });

test('the only node is named when it gives logs of a range at the number of another block', async () => {
  const { rpc, blamed, faults } = await openPonder([await movingNode(moved)]);
  await rpc.request(range);
  for (const number of ['0x5', '0x8']) await rpc.request(blockAt(number));
  expect(blamed).toEqual([]);
  await rpc.request(blockAt('0x7'));
  expect(blamed).toEqual([{ chainId: 1, node: 'rpcUrls[0]', leftOut: 0, invented: 2 }]);
  expect(faults).toEqual({ invented: 2 });
});

test('logs of a block that was reorganised away since then are no fault', async () => {
  const away = chainLogs.map((log) => (log.blockNumber === '0x6' ? { ...log, blockHash: pad('0xdead') } : log));
  const asked: string[] = [];
  const { rpc, blamed } = await openPonder([await movingNode(away, asked)]);
  await rpc.request(range);
  await rpc.request(blockAt('0x6'));
  expect([asked, blamed]).toEqual([['eth_getLogs', 'eth_getBlockByNumber', 'eth_getBlockByHash'], []]);
});

test('of logs of a block by its hash, at another number than that of the block, another node is asked', async () => {
  const [{ hash }, logs] = [blockOf(6), chainLogs.slice(2, 4)];
  const { rpc, blamed } = await openPonder([await movingNode(moved.slice(2, 4)), await movingNode(logs)]);
  await rpc.request(blockAt('0x6'));
  for (let n = 0; n < 2; n += 1)
    expect(await rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] })).toEqual(logs);
  expect(blamed).toContainEqual({ chainId: 1, node: 'rpcUrls[0]', leftOut: 0, invented: 2 });
});

test.each<[string, readonly ChainLog[], readonly ChainLog[], Record<string, number>]>([
  ['the first leaves some out', without(1, 2, 6), chainLogs, { 'left out': 3 }],
  ['the first leaves all out', [], chainLogs, { 'left out': 8 }],
  ['the second leaves some out', chainLogs, without(3), { 'left out': 1 }],
  ['both leave some out', without(0, 1), without(5), { 'left out': 3 }],
  ['the first gives one twice, in another order', [...chainLogs, chainLogs[2] as ChainLog].reverse(), chainLogs, {}],
  ['the first invents one', [...chainLogs, invented], chainLogs, { invented: 1 }],
  ['the second invents one', chainLogs, [invented, ...chainLogs], { invented: 1 }],
  ['the first moves two', moved, chainLogs, { 'left out': 2, invented: 2 }],
])('of two nodes %s: the index gets what the chain has', async (_, first, second, expected) => {
  const { rpc, faults } = await openPonder([await logNode(() => first), await logNode(() => second)]);
  expect(await rpc.request(range)).toEqual(chainLogs);
  expect(faults).toEqual(expected);
});

test('a node that leaves logs out is not asked, also for logs that are not compared', async () => {
  const asked: string[] = [];
  const node = (name: string, logs: readonly ChainLog[]) =>
    logNode(() => {
      asked.push(name);
      return logs;
    });
  const nodes = [await node('lossy', without(4)), await node('whole', chainLogs)];
  const { rpc, blamed } = await openPonder(nodes);
  await rpc.request(range);
  expect(new Set(asked)).toEqual(new Set(['lossy', 'whole']));
  expect(blamed).toEqual([{ chainId: 1, node: 'rpcUrls[0]', leftOut: 1, invented: 0 }]);
  asked.length = 0;
  expect(await rpc.request(range)).toEqual(chainLogs);
  expect(asked).toEqual(['whole']);
});

test('of two URLs of one provider the one that was wrong is named', async () => {
  const url = await logNode((path) => (path.endsWith('/lossy') ? without(4) : chainLogs));
  const { rpc, blamed } = await openPonder([url, `${url}/lossy`]);
  for (let n = 0; n < 2; n += 1) expect(await rpc.request(range)).toEqual(chainLogs);
  expect(blamed).toEqual([{ chainId: 1, node: 'rpcUrls[1]', leftOut: 1, invented: 0 }]);
});

test.each([
  ['lack them too', chainLogs.map((log) => ({ ...log, logIndex: '0x7' })), 'disputed'],
  ['cannot be read', [], 'unclear'],
] as const)('a node whose receipts %s takes no logs from the other', async (_, receipts, fault) => {
  const nodes = [await logNode(() => chainLogs), await logNode(() => [], 8, receipts)];
  const { rpc, faults } = await openPonder(nodes);
  if (fault === 'disputed') expect(await rpc.request(range)).toEqual(chainLogs);
  // Until Ponder, which chooses by latency and by chance, asks the other node.
  await vi.waitFor(async () => expect(await rpc.request(range)).toEqual(chainLogs));
  expect(Object.keys(faults)).toEqual([fault]);
});

test('indexes that nodes write in two ways, or count by transaction, name the same logs', async () => {
  const padded = chainLogs.map((log) => ({ ...log, logIndex: log.logIndex.replace('0x', '0x0') }));
  const { rpc, faults } = await openPonder([await logNode(() => chainLogs), await logNode(() => padded)]);
  const [answer, again] = (await Promise.all([1, 2].map(() => rpc.request(range)))) as [ChainLog[], ChainLog[]];
  for (const logs of [answer, again]) {
    expect(logs.map((log) => ({ ...log, logIndex: `0x${Number(log.logIndex)}` }))).toEqual(chainLogs);
  }
  const byTransaction = chainLogs.map((log) => ({ ...log, logIndex: '0x0' }));
  const other = await openPonder([await logNode(() => byTransaction), await logNode(() => byTransaction)]);
  expect(await other.rpc.request(range)).toHaveLength(chainLogs.length);
  expect({ ...faults, ...other.faults }).toEqual({});
});

test('what a node that lags does not give yet says nothing of it', async () => {
  const { rpc, faults } = await openPonder([await logNode(() => chainLogs), await logNode(() => without(6, 7), 7)]);
  // As above.
  await vi.waitFor(async () => expect(await rpc.request(range)).toEqual(chainLogs));
  expect(Object.keys(faults)).toEqual(['unclear']);
});
