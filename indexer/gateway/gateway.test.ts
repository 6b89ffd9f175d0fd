import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Abi, type AbiEvent, pad, toEventSelector } from 'viem';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { startTestNode } from '../../chain/head-feed/test-node.fixture.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { passUntil, stopTime } from '../../test/harness/stopped-time.ts';
import { answerRequest } from './answer-request.ts';
import { INDEXED_TOPICS } from './indexed-topics.ts';
import {
  blockOf,
  chainOf,
  failed,
  muteRedials,
  ok,
  openPonder,
  startNode,
  TIMEOUT_MS,
} from './ponder-client.fixture.ts';

beforeAll(muteRedials);

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

test('each repair after the first one asks one node for all, in turn', async () => {
  const asked = new Set<string>();
  const url = await startNode((_, path) => {
    asked.add(path.slice(-2));
    return ok(blockOf(5));
  });
  const urls = [`${url}/0`, `${url}/1`];
  const pathsAt = async (turn?: number) => {
    asked.clear();
    const turns = new Map(turn === undefined ? [] : [[1, turn]]);
    const { rpc } = await openPonder(urls, [], 5_000, turns);
    const block = { method: 'eth_getBlockByNumber', params: ['0x5', false] };
    await Promise.all(Array.from({ length: 20 }, () => rpc.request(block)));
    return [...asked].sort();
  };
  expect(await pathsAt()).toEqual(['/0', '/1']);
  for (const turn of [0, 1, 2]) expect(await pathsAt(turn)).toEqual([`/${turn % 2}`]);
});

test('logs of a block that no node has are given up within seconds, other requests are not', async () => {
  let [blockRequests, hasBlock] = [0, false];
  const url = await startNode(({ method }) => {
    if (method === 'eth_getBlockByNumber') blockRequests += 1;
    if (hasBlock) return ok(blockOf(1));
    return failed({ code: -32_000, message: 'unknown block' });
  });
  const { rpc } = await openPonder([url]);
  stopTime();
  const given = vi.fn();
  rpc.request({ method: 'eth_getLogs', params: [{ blockHash: pad('0x1') }] }).catch(() => given('logs'));
  const block = rpc.request({ method: 'eth_getBlockByNumber', params: ['0x1', true] }).finally(() => given('block'));
  await passUntil(() => given.mock.calls.length > 0, 2_000);
  const before = blockRequests;
  await passUntil(() => blockRequests > before, 5_000);
  expect(given.mock.calls).toEqual([['logs']]);
  hasBlock = true;
  await passUntil(() => given.mock.calls.length > 1, 10_000);
  await block;
});

test('requests are as many as before when a node answers again that was silent', async () => {
  let isSilent = true;
  const url = await startNode(() => (isSilent ? undefined : ok('0x1')));
  const { rpc, logged } = await openPonder([url], [], TIMEOUT_MS);
  stopTime();
  let answered = 0;
  const ask = (count: number) => {
    for (let asked = 0; asked < count; asked += 1) void rpc.request({ method: 'eth_chainId' }).then(() => answered++);
  };
  ask(40);
  const failures = () => logged().filter(({ msg }) => msg === 'Received JSON-RPC error').length;
  await passUntil(() => failures() >= 75, 10_000);
  isSilent = false;
  ask(100);
  await passUntil(() => answered === 140, 20_000);
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
  const url = await startNode(({ method }) => ok(blockOf(method === 'eth_getBlockByHash' ? 7 : polled)));
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
  let isUp = false;
  const url = await startNode(() => (isUp ? ok('0x1') : { status: 500, body: 'no' }));
  const { rpc, gateway, logged } = await openPonder([url]);
  const { host } = new URL(gateway.url);
  for (const other of [`ws://${host}/1/0`, `${gateway.url}/2/0`, `${gateway.url}/1/99`]) {
    const socket = new WebSocket(other);
    await new Promise((resolve) => {
      socket.onclose = resolve;
    });
  }
  const asked = rpc.request({ method: 'eth_chainId' });
  await vi.waitUntil(() => logged().length > 0);
  const [line] = logged();
  expect(String(line?.error)).toContain('gave no answer to eth_chainId');
  expect(String(line?.error)).not.toContain('a-key');
  isUp = true;
  expect(await asked).toBe('0x1');
});
