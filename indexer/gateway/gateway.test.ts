import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Abi, type AbiEvent, pad, toEventSelector } from 'viem';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { startTestNode } from '../../chain/head-feed/test-node.fixture.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { createLogger } from '../../runtime/logger.ts';
import { ponderChains } from '../sources.ts';
import { answerRequest } from './answer-request.ts';
import { openGateway } from './gateway.ts';
import { INDEXED_TOPICS } from './indexed-topics.ts';

/** Ponder's own client asks nodes of these tests through the gateway. */

const TIMEOUT_MS = 200;
const PONDER = import.meta.resolve('ponder');
const silent = createLogger('test', 'silent');
const nothing = () => undefined;
const metric = { inc: nothing, observe: nothing };

type Request = { readonly method: string; readonly params?: readonly unknown[] };
type Reply = { readonly status?: number; readonly body?: unknown };
type Rpc = {
  request(request: Request): Promise<unknown>;
  subscribe(of: { onBlock: (block: { number: string }) => void; onError: (error: unknown) => void }): void;
  unsubscribe(): Promise<void>;
};

// viem's sockets dial again after the gateway of a test is closed, and write that they fail.
beforeAll(() => {
  const written = vi.spyOn(console, 'error').mockImplementation(nothing);
  return () => written.mockRestore();
});

const ok = (result: unknown): Reply => ({ body: { jsonrpc: '2.0', id: 1, result } });
const failed = (error: object): Reply => ({ body: { jsonrpc: '2.0', id: 1, error } });

/** A node that answers like this; undefined is no answer. */
async function startNode(answer: (request: Request) => Reply | undefined): Promise<string> {
  const server = createServer(async (incoming, response) => {
    const reply = answer(JSON.parse(Buffer.concat(await incoming.toArray()).toString()) as Request);
    if (reply) response.writeHead(reply.status ?? 200).end(JSON.stringify(reply.body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a-key`;
}

function chainOf(rpcUrls: readonly string[], wsUrls: readonly string[] = []) {
  const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: pad('0x1', { size: 20 }) };
  return { chainId: 1, name: 'one', rpcUrls, wsUrls, blockTimeMs: 400, deployments: [deployment] };
}

/** Ponder's client of a chain with these nodes, and what it logs. */
async function openPonder(rpcUrls: readonly string[], wsUrls: readonly string[] = [], timeoutMs = 5_000) {
  const faults: Record<string, number> = {};
  const { chains } = parseChainsFile({ chains: [chainOf(rpcUrls, wsUrls)] }, 'test');
  const counted: string[] = [];
  const blamed: unknown[] = [];
  const gateway = await openGateway(chains, {
    countCall: (_, method) => counted.push(method),
    countLogs: (_, fault, logs) => {
      faults[fault] = (faults[fault] ?? 0) + logs;
    },
    blame: (faulty) => blamed.push(faulty),
    logger: silent,
    timeoutMs,
  });
  const log = vi.fn();
  const logger = { trace: nothing, debug: log, info: log, warn: log, error: log, child: () => logger };
  const common = {
    logger,
    metrics: { ponder_rpc_request_duration: metric, ponder_rpc_request_error_total: metric },
    shutdown: { add: nothing },
  };
  const { createRpc } = (await import(new URL('rpc/index.js', PONDER).href)) as { createRpc: (of: object) => Rpc };
  const chain = { ...ponderChains(chains, gateway.url).chain_1, name: 'one', finalityBlockCount: 30 };
  const rpc = createRpc({ common, chain });
  onTestFinished(async () => {
    await rpc.unsubscribe();
    gateway.close();
  });
  const logged = () => log.mock.calls.map(([line]) => line as { msg: string; error?: unknown });
  return { rpc, gateway, logged, counted, faults, blamed };
}

const blockOf = (number: number) => ({
  number: `0x${number.toString(16)}`,
  hash: pad(`0x${number.toString(16)}`),
  parentHash: pad(`0x${(number - 1).toString(16)}`),
  timestamp: '0x1',
  logsBloom: pad('0x0', { size: 256 }),
  transactions: [],
});

test('results and errors of a node reach Ponder as they are', async () => {
  const revert = { code: 3, message: 'execution reverted', data: '0x08c379a0' };
  const url = await startNode(({ method }) => (method === 'eth_call' ? failed(revert) : ok({ method, big: '0xff' })));
  const { rpc } = await openPonder([url]);
  expect(await rpc.request({ method: 'eth_feeHistory', params: ['0x1'] })).toEqual({
    method: 'eth_feeHistory',
    big: '0xff',
  });
  await expect(rpc.request({ method: 'eth_call', params: [] })).rejects.toMatchObject({ code: 3, data: '0x08c379a0' });
});

test.each(['first', 'last'])(
  'what a node does not have or do, the next one is asked: one is down, the %s',
  async (place) => {
    const behind = await startNode(() => ok(null));
    const other = await startNode(({ params }) => ok(params?.[0] === '0x7' ? blockOf(7) : null));
    const down = 'http://127.0.0.1:1/';
    const { rpc, logged } = await openPonder(place === 'first' ? [down, behind, other] : [behind, other, down]);
    expect(await rpc.request({ method: 'eth_getBlockByNumber', params: ['0x7', true] })).toEqual(blockOf(7));
    expect(await rpc.request({ method: 'eth_getBlockByNumber', params: ['0x8', true] })).toBeNull();
    expect(await rpc.request({ method: 'eth_getTransactionReceipt', params: ['0x8'] })).toBeNull();
    expect(logged()).toEqual([]);
  },
);

test('logs of a block that no node has are given up within seconds, other requests are not', async () => {
  let blockRequests = 0;
  const url = await startNode(({ method }) => {
    if (method === 'eth_getBlockByNumber') blockRequests += 1;
    return failed({ code: -32_000, message: 'unknown block' });
  });
  const { rpc } = await openPonder([url]);
  const given = vi.fn();
  rpc.request({ method: 'eth_getLogs', params: [{ blockHash: pad('0x1') }] }).catch(() => given('logs'));
  rpc.request({ method: 'eth_getBlockByNumber', params: ['0x1', true] }).catch(() => given('block'));
  await vi.waitUntil(() => given.mock.calls.length > 0, { timeout: 10_000 });
  const before = blockRequests;
  await vi.waitUntil(() => blockRequests > before, { timeout: 20_000 });
  expect(given.mock.calls).toEqual([['logs']]);
});

test('requests are as many as before when a node answers again that was silent', async () => {
  let isSilent = true;
  const url = await startNode(() => (isSilent ? undefined : ok('0x1')));
  const { rpc, logged } = await openPonder([url], [], TIMEOUT_MS);
  const ask = (count: number) =>
    Promise.all(Array.from({ length: count }, () => rpc.request({ method: 'eth_chainId' })));
  const first = ask(40);
  const failures = () => logged().filter(({ msg }) => msg === 'Received JSON-RPC error').length;
  await vi.waitUntil(() => failures() >= 75, { timeout: 20_000 });
  isSilent = false;
  expect((await first).length + (await ask(100)).length).toBe(140);
  const lines = logged().map(({ msg }) => msg);
  expect(lines).not.toContain('JSON-RPC provider rate limited');
});

test('a node that has enough is asked less often', async () => {
  let isBusy = true;
  const url = await startNode(() => (isBusy ? { status: 429, body: 'slow down' } : ok('0x1')));
  const { rpc, logged } = await openPonder([url]);
  const asked = rpc.request({ method: 'eth_chainId' });
  await vi.waitUntil(() => logged().some(({ msg }) => msg === 'JSON-RPC provider rate limited'));
  isBusy = false;
  expect(await asked).toBe('0x1');
});

test('an answer that is too large is one that Ponder asks for in parts', async () => {
  const url = await startNode(() => ok('a'.repeat(11_000_000)));
  const { rpc, logged } = await openPonder([url]);
  const params = [{ fromBlock: '0x1', toBlock: '0x100' }];
  await expect(rpc.request({ method: 'eth_getLogs', params })).rejects.toThrow('backend response too large');
  expect(logged()).toEqual([]);
});

test('a range of logs that a node refuses is halved, whatever the node says, and not one of a single block', async () => {
  let message = 'no more than a handful of blocks, please';
  const url = await startNode(() => failed({ code: -32_602, message }));
  const { rpc, gateway } = await openPonder([url]);
  const logs = (fromBlock: string, toBlock: string) =>
    rpc.request({ method: 'eth_getLogs', params: [{ fromBlock, toBlock }] });
  await expect(logs('0x1', '0x100')).rejects.toThrow(`${message} (block range too large)`);
  expect(gateway.logCounts.get(1)).toBe(0);
  const { chains } = parseChainsFile({ chains: [chainOf([url])] }, 'test');
  const node = openChainRpc(chains[0] as ChainConfig, TIMEOUT_MS);
  const answered = (toBlock: string) =>
    answerRequest(node, { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock }] });
  expect(await answered('0x1')).toEqual({ error: { code: -32_602, message } });
  message = 'rate limit: 25 requests per second';
  expect(await answered('0x9')).toEqual({ error: { code: -32_602, message } });
});

test('Ponder takes heads that looks see, and those that sockets tell', async () => {
  const node = await startTestNode(1);
  onTestFinished(node.stop);
  let polled = 5;
  const url = await startNode(() => ok(blockOf(polled)));
  const { rpc } = await openPonder([url], [node.url]);
  const seen: number[] = [];
  const failures = vi.fn();
  rpc.subscribe({ onBlock: ({ number }) => seen.push(Number(number)), onError: failures });
  await vi.waitUntil(() => seen.includes(5));
  polled = 6;
  await vi.waitUntil(() => seen.includes(6));
  node.pushHead(7);
  await vi.waitUntil(() => seen.includes(7));
  expect(failures).not.toHaveBeenCalled();
});

const [topic] = [...INDEXED_TOPICS];
const hash = pad('0x7');
const logOf = (topics: readonly (string | undefined)[]) => ({ topics, blockHash: hash, blockNumber: '0x7' });

test.each([
  ['without logs', [], '0x0', 0],
  ['with logs of others', [logOf([pad('0xbeef')]), logOf([])], '0x1', 0],
  ['with a log that is indexed', [logOf([pad('0xbeef')]), logOf([topic])], '0x1', 1],
] as const)('of a new block %s, the logs are read once, and the block where it may matter', async (...of) => {
  const [, logs, bloom, blocks] = of;
  const block = { ...blockOf(7), logsBloom: pad(bloom, { size: 256 }) };
  const whole = { ...block, transactions: [{ hash: pad('0x9') }] };
  const url = await startNode(({ method, params }) => {
    if (method === 'eth_getLogs') return ok(logs);
    return ok(params?.[0] === 'latest' ? block : whole);
  });
  const { rpc, counted } = await openPonder([url]);
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  counted.length = 0;
  const [answer, found] = await Promise.all([
    rpc.request({ method: 'eth_getBlockByHash', params: [hash, true] }),
    rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] }),
  ]);
  expect(answer).toEqual(blocks > 0 ? whole : { ...block, logsBloom: pad('0x0', { size: 256 }) });
  expect(found).toEqual(logs.filter(({ topics: [first] }) => first === topic));
  expect(counted.filter((method) => method === 'eth_getLogs')).toHaveLength(1);
  expect(counted.filter((method) => method === 'eth_getBlockByHash')).toHaveLength(blocks);
});

test('of a new block whose logs its node lacks, they are read again, and so is the block', async () => {
  const block = { ...blockOf(7), logsBloom: pad('0x1', { size: 256 }) };
  const url = await startNode(({ method }) => ok(method === 'eth_getLogs' ? [] : block));
  const { rpc, counted } = await openPonder([url]);
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  counted.length = 0;
  expect(await rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] })).toEqual([]);
  expect(await rpc.request({ method: 'eth_getBlockByHash', params: [hash, true] })).toEqual(block);
  const read = counted.filter((method) => method !== 'eth_getBlockByNumber');
  expect(read).toEqual(['eth_getLogs', 'eth_getLogs', 'eth_getBlockByHash']);
});

test.each([
  ['block', { blockHash: pad('0x8') }],
  ['number', { blockNumber: '0x8' }],
])('of a new block, logs of another %s are not taken, and not kept', async (_, moved) => {
  let isMoving = true;
  const logs = [logOf([topic])];
  const url = await startNode(({ method }) =>
    ok(method !== 'eth_getLogs' ? blockOf(7) : logs.map((log) => (isMoving ? { ...log, ...moved } : log))),
  );
  const { rpc, logged } = await openPonder([url]);
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  const given = rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] });
  await vi.waitUntil(() => logged().some(({ msg }) => msg === 'Received JSON-RPC error'));
  isMoving = false;
  expect(await given).toEqual(logs);
});

test('of logs outside the range that was asked for, another node is asked', async () => {
  const nodes = [await logNode(() => chainLogs), await logNode(() => chainLogs.slice(0, 6))];
  const { rpc } = await openPonder(nodes);
  const narrow = { method: 'eth_getLogs', params: [{ fromBlock: '0x5', toBlock: '0x7' }] };
  // Whichever node Ponder asks first.
  for (const logs of await Promise.all([1, 2].map(() => rpc.request(narrow))))
    expect(logs).toEqual(chainLogs.slice(0, 6));
});

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
function logNode(logs: () => readonly ChainLog[], highest = 8, receipts: readonly ChainLog[] = chainLogs) {
  return startNode(({ method, params = [] }) => {
    if (method === 'eth_getLogs') return ok(logs());
    if (receipts.length === 0) return { status: 403, body: 'no receipts' };
    const all = receipts.filter(({ transactionHash }) => transactionHash === params[0]);
    const [first] = all;
    return ok(first && Number(first.blockNumber) <= highest ? { blockHash: first.blockHash, logs: all } : null);
  });
}

const range = { method: 'eth_getLogs', params: [{ fromBlock: '0x5', toBlock: '0x8' }] };

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

test.each([
  ['lack them too', chainLogs.map((log) => ({ ...log, logIndex: '0x7' })), 'disputed'],
  ['cannot be read', [], 'unclear'],
] as const)('a node whose receipts %s takes no logs from the other', async (_, receipts, fault) => {
  const nodes = [await logNode(() => chainLogs), await logNode(() => [], 8, receipts)];
  const { rpc, faults } = await openPonder(nodes);
  // Whichever node Ponder asks first.
  const answers = await Promise.all([1, 2].map(() => rpc.request(range)));
  expect(answers).toContainEqual(chainLogs);
  expect(Object.keys(faults)).toEqual([fault]);
  if (fault === 'disputed') expect(answers).toEqual([chainLogs, chainLogs]);
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
  // Whichever node Ponder asks first.
  expect(await Promise.all([1, 2].map(() => rpc.request(range)))).toContainEqual(chainLogs);
  expect(Object.keys(faults)).toEqual(['unclear']);
});

test('the topics of logs that may be indexed are those of all contracts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  const path = join(folder, 'chains.json');
  await writeFile(path, JSON.stringify({ chains: [chainOf(['http://node/'])] }));
  vi.stubEnv('CHAINS_CONFIG', path);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  const { default: config } = await import('../../ponder.config.ts');
  const contracts = Object.values(config.contracts) as { abi: Abi }[];
  const events = contracts.flatMap(({ abi }) => abi.filter(({ type }) => type === 'event')) as AbiEvent[];
  expect(new Set(events.map((event) => toEventSelector(event)))).toEqual(INDEXED_TOPICS);
});

test('nobody else is answered, and no error names the URL of a node', async () => {
  const { rpc, gateway, logged } = await openPonder([await startNode(() => ({ status: 500, body: 'no' }))]);
  const { host } = new URL(gateway.url);
  for (const url of [`ws://${host}/1/0`, `${gateway.url}/2/0`, `${gateway.url}/1/99`]) {
    const socket = new WebSocket(url);
    await new Promise((resolve) => {
      socket.onclose = resolve;
    });
  }
  rpc.request({ method: 'eth_chainId' }).catch(nothing);
  await vi.waitUntil(() => logged().length > 0);
  const [line] = logged();
  expect(String(line?.error)).toContain('gave no answer to eth_chainId');
  expect(String(line?.error)).not.toContain('a-key');
});
