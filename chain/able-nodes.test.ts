import { numberToHex } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startAnvil } from '../devnet/anvil.ts';
import type { ProxiedRequest } from '../devnet/misbehaviour.ts';
import { type RpcProxy, startRpcProxy } from '../devnet/rpc-proxy.ts';
import type { BoundedCall } from '../protocol/bounded-calls/bounded-calls.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { ChainRpc } from './chain-rpc.ts';
import { fakeNodes } from './fake-nodes.fixture.ts';
import { boundedCalls, boundedCallsOnce } from './isolated-calls.ts';
import { KNOWN_MS } from './node-abilities.ts';
import { RpcEndpoint } from './rpc-endpoint.ts';
import { RpcFailure } from './rpc-failure.ts';

const CHAIN_ID = 31_337;
const TARGET = `0x${'5e'.repeat(20)}` as const;
/** Code that returns 7. */
const code = new Map([[TARGET, '0x60075f5260205ff3']] as const);
const CALL: BoundedCall = { target: TARGET, data: '0x', likelyGas: 5_000, gasLimit: 5_000, keptBytes: 32 };
const SEVEN = numberToHex(7, { size: 32 });
const withOverrides = ({ method, params }: ProxiedRequest) => method === 'eth_call' && params.length > 2;
const withoutMethod = { kind: 'error', code: -32_601, message: 'the method does not exist' } as const;

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
let proxies: readonly [RpcProxy, RpcProxy];
beforeAll(async () => {
  proxies = [await startRpcProxy(anvil.url), await startRpcProxy(anvil.url)];
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
});

let now = 0;
let rpc: ChainRpc;
beforeEach(() => {
  for (const proxy of proxies) proxy.misbehave(null);
  now = 0;
  const options = { timeoutMs: 5_000, count: () => undefined, now: () => now };
  rpc = new ChainRpc(proxies.map(({ url }) => new RpcEndpoint(url, options)));
});

const countOf = (proxy: RpcProxy, isMeant: (request: ProxiedRequest) => boolean) =>
  proxy.requests.filter(isMeant).length;

/** What a call under overrides gives, and how many requests with overrides it took of each node. */
async function called(block: 'latest' | 'pending') {
  const before = proxies.map((proxy) => countOf(proxy, withOverrides));
  const { block: head } = await rpc.head();
  const pending = {
    blockNumber: head.number + 1n,
    timestamp: head.timestamp + 100n,
    overrides: new Map(),
    digest: 'none',
    receivedAt: 0,
  };
  const context = { block: block === 'latest' ? ('latest' as const) : { ...head, pending }, code };
  const { isApplied, answers } = await boundedCalls({ rpc, chainId: CHAIN_ID }, context, [[CALL]]);
  const asked = proxies.map((proxy, index) => countOf(proxy, withOverrides) - (before[index] ?? 0));
  return { isApplied, data: answers[0]?.results[0]?.data, asked };
}

test.each([
  ['ignore', 'latest'],
  ['ignore', 'pending'],
  ['ignoreBlock', 'pending'],
] as const)('calls that one node would run without overrides (%s, at %s) come from the other', async (how, block) => {
  const [first] = proxies;
  first.misbehave({ kind: 'noOverrides', how });
  const good = { isApplied: true, data: SEVEN };
  // One call more of the node of which nothing is known.
  expect(await called(block)).toEqual({ ...good, asked: [1, 1] });
  now += KNOWN_MS - 1;
  expect(await called(block)).toEqual({ ...good, asked: [0, 1] });
  first.misbehave(null);
  now += 1;
  expect(await called(block)).toEqual({ ...good, asked: [1, 0] });
});

test('a node that refuses overrides is probed once, and left out until that is known no longer', async () => {
  const [first] = proxies;
  first.misbehave({ kind: 'noOverrides', how: 'refuse' });
  const before = countOf(first, withOverrides);
  expect(await called('latest')).toMatchObject({ isApplied: true, data: SEVEN });
  await expect.poll(() => rpc.endpoints[0]?.has('stateOverrides')).toBe(false);
  expect(countOf(first, withOverrides) - before).toBe(2);
  now += KNOWN_MS - 1;
  expect((await called('latest')).asked).toEqual([0, 1]);
  first.misbehave(null);
  now += 1;
  expect((await called('latest')).asked).toEqual([1, 0]);
});

test('a refusal that is not about overrides takes no ability from a node', async () => {
  const [first] = proxies;
  const isOverridden = (request: ProxiedRequest) => withOverrides(request) && JSON.stringify(request).includes(TARGET);
  first.misbehave({ kind: 'error', code: -32_000, message: 'execution timeout' }, isOverridden);
  expect(await called('latest')).toMatchObject({ isApplied: true, data: SEVEN });
  await expect.poll(() => rpc.endpoints[0]?.has('stateOverrides')).toBe(true);
  expect(rpc.endpoints[0]?.isLacking({ ability: 'stateOverrides' })).toBe(false);
});

test('where no node that works applies overrides, calls run without them, at no request that is in vain', async () => {
  const [first, second] = proxies;
  for (const proxy of proxies) proxy.misbehave({ kind: 'noOverrides', how: 'ignore' });
  const plain = { isApplied: false, data: '0x' };
  expect(await called('latest')).toEqual({ ...plain, asked: [1, 1] });
  expect(await called('latest')).toEqual({ ...plain, asked: [0, 0] });
  expect(rpc.mayHave('programOverrides')).toBe(false);
  const once = await boundedCallsOnce({ rpc, chainId: CHAIN_ID }, { block: 'latest', code }, [CALL]);
  expect(once.results[0]?.data).toBe('0x');
  now += KNOWN_MS;
  second.misbehave({ kind: 'down' });
  expect(await called('latest')).toMatchObject(plain);
  second.misbehave(null);
  first.misbehave({ kind: 'down' });
  await expect.poll(async () => (await called('latest')).isApplied).toBe(true);
});

test.each([
  ['eth_createAccessList', [{ to: TARGET, data: '0x' }, 'latest']],
  ['eth_getCode', [TARGET, '0x0']],
  ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x0', address: TARGET }]],
  ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x1', address: TARGET }]],
] as const)('%s %j comes from the node that has it', async (method, params) => {
  const [first] = proxies;
  await rpc.request('anvil_mine', ['0x2'], () => null);
  const isMeant = (request: ProxiedRequest) => request.method === method;
  const isLearnt = method !== 'eth_getLogs' || params[0].fromBlock !== params[0].toBlock;
  first.misbehave(withoutMethod, isMeant);
  const before = countOf(first, isMeant);
  const request = () => rpc.requestOptional(method, params, (result) => result !== undefined);
  for (let times = 0; times < 3; times += 1) expect(await request()).toBe(true);
  expect(countOf(first, isMeant) - before).toBe(isLearnt ? 1 : 3);
  first.misbehave(null);
  now += KNOWN_MS;
  expect(await request()).toBe(true);
  expect(countOf(first, isMeant) - before).toBe(isLearnt ? 2 : 4);
});

test('nodes that lack old state or wide ranges of logs are asked last, for less of it as before', async () => {
  const asked: string[] = [];
  const node =
    (name: string, blocks: number) =>
    async (_method: string, [filter]: readonly unknown[]) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      asked.push(name);
      if (Number(toBlock) - Number(fromBlock) >= blocks) throw new RpcFailure('refused', 'range too large');
      return [];
    };
  const logs = fakeNodes([node('narrow', 10), node('wide', 1_000)], () => now);
  const read = (blocks: number) => logs.logs([], 1n, BigInt(blocks));
  const askedBy = async (blocks: number) => {
    asked.length = 0;
    await read(blocks).catch(() => undefined);
    return asked.join(' ');
  };
  expect(await askedBy(100)).toBe('narrow wide');
  expect(await askedBy(500)).toBe('wide');
  expect(await askedBy(50)).toBe('narrow wide');
  expect(await askedBy(50)).toBe('wide');
  expect(await askedBy(10)).toBe('narrow');
  expect(await askedBy(2_000)).toBe('wide narrow');
  now += KNOWN_MS;
  expect(await askedBy(500)).toBe('narrow wide');
});

test('old state that a node lacks is no state of newer blocks', async () => {
  const asked: string[] = [];
  const node =
    (name: string, oldest: number) =>
    async (_method: string, [, block]: readonly unknown[]) => {
      asked.push(name);
      if (Number(block) < oldest) throw new RpcFailure('refused', 'missing trie node');
      return '0x';
    };
  const state = fakeNodes([node('pruned', 100), node('archive', 0)], () => now);
  for (const block of [50, 40, 150, 120]) await state.request('eth_getCode', [TARGET, numberToHex(block)], () => null);
  expect(asked).toEqual(['pruned', 'archive', 'archive', 'pruned', 'pruned']);
});

test('a node whose limit of requests is reached lacks nothing', async () => {
  const limited = async () => {
    throw new RpcFailure('refused', 'slow down', { code: -32_005, message: 'limit exceeded' });
  };
  const nodes = fakeNodes([limited], () => now);
  await expect(nodes.logs([], 1n, 100n)).rejects.toMatchObject({ code: 'refused' });
  expect(nodes.endpoints[0]?.isLacking({ ability: 'logRange', size: 100 })).toBe(false);
});
