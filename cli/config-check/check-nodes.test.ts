import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import type { Misbehaviour } from '../../devnet/misbehaviour.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { checkNodes } from './check-nodes.ts';

const CHAIN_ID = 31337;
const BLOCK_SECS = 3;
/** More than are measured. */
const BLOCKS = 300;

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
let proxy: RpcProxy;
let deployment: Deployment;

beforeAll(async () => {
  [deployment, proxy] = await Promise.all([deployProtocol(anvil.url, CHAIN_ID), startRpcProxy(anvil.url)]);
  const { client } = await connectDevChain(anvil.url);
  await client.mine({ blocks: BLOCKS, interval: BLOCK_SECS });
});
afterEach(() => proxy.misbehave(null));
afterAll(() => proxy.stop());

/** Findings of the chain by the node behind the proxy, with settings changed as given. */
async function findingsOf(changes: Record<string, unknown> = {}) {
  const { multicall3, poolFactory, fromBlock } = deployment;
  const deployments = [{ contractVersion: 'v1', layout: 'flat', poolFactory, fromBlock }];
  const chain = {
    chainId: CHAIN_ID,
    name: 'devnet',
    rpcUrls: [proxy.url],
    blockTimeMs: BLOCK_SECS * 1_000,
    multicall3,
    deployments,
    ...changes,
  };
  const [parsed] = parseChainsFile({ chains: [chain] }, 'test', {}).chains;
  if (!parsed) throw new Error('no chain');
  const { findings } = await checkNodes(parsed);
  return findings.map(({ level, chainId, url, problem }) => {
    expect(chainId).toBe(CHAIN_ID);
    return [url, `${level}: ${problem}`];
  });
}

const LIVE = { live: { sources: [{ kind: 'relayer', rpcUrls: ['http://127.0.0.1:1'] }] } };
const NO_STATE = 'warning: applies no state overrides: prices are inverted';
const NOT_LIVE = 'warning: applies no state and block overrides together: no live quotes from it';
const NO_BLOCK = 'note: applies no block overrides, which live quotes would need';

test('a node that applies overrides, at the block time of the file, has no findings', async () => {
  expect(await findingsOf()).toEqual([]);
  expect(await findingsOf(LIVE)).toEqual([]);
});

test.each([
  ['refuse', [NO_STATE], [NO_STATE, NOT_LIVE]],
  ['ignore', [NO_STATE], [NO_STATE, NOT_LIVE]],
  ['ignoreBlock', [NO_BLOCK], [NOT_LIVE]],
] as const)('missing overrides (%s) are found at the node that lacks them', async (how, found, foundLive) => {
  proxy.misbehave({ kind: 'noOverrides', how });
  const ofProxy = (problems: readonly string[]) => problems.map((problem) => [proxy.url, problem]);
  expect(await findingsOf()).toEqual(ofProxy(found));
  expect(await findingsOf({ ...LIVE, rpcUrls: [anvil.url, proxy.url] })).toEqual(ofProxy(foundLive));
});

test('Multicall3 without code is an error', async () => {
  const missing = `0x${'ab'.repeat(20)}`;
  expect(await findingsOf({ multicall3: missing })).toEqual([[proxy.url, `error: no code at multicall3 ${missing}`]]);
});

test.each([
  [2_200, false],
  [2_300, true],
  [4_400, true],
  [4_600, false],
])(
  'a block time of %d ms in the file where blocks take 3000: right within a third: %s',
  async (blockTimeMs, isRight) => {
    // Slow mining adds a second of its own.
    const { client } = await connectDevChain(anvil.url);
    const head = await client.getBlock();
    const { timestamp } = await client.getBlock({ blockNumber: head.number - 256n });
    const meanMs = Math.round((Number(head.timestamp - timestamp) * 1_000) / 256);
    const problem = `warning: blockTimeMs is ${blockTimeMs}, but the last 256 blocks took ${meanMs} ms each`;
    expect(await findingsOf({ blockTimeMs })).toEqual(isRight ? [] : [[proxy.url, problem]]);
  },
);

test.each([
  ['eth_call', 'overrides'],
  ['eth_getBlockByNumber', 'block time'],
])('a node that fails at %s does not show all', async (failed, what) => {
  const down: Misbehaviour = { kind: 'text', status: 500, body: 'broken' };
  proxy.misbehave(down, ({ method }) => method === failed);
  expect(await findingsOf()).toEqual([
    [proxy.url, expect.stringMatching(new RegExp(`^warning: does not show its ${what}: status 500: broken$`))],
  ]);
});

test('a node that limits requests is asked again, and named when it gives no answer', async () => {
  const limits = { kind: 'freePlan', logBlocks: 500, refusal: '' } as const;
  proxy.misbehave({ ...limits, perSec: 4 });
  expect(await findingsOf()).toEqual([]);
  proxy.misbehave({ ...limits, perSec: 0 });
  expect(await findingsOf()).toEqual([[proxy.url, 'error: does not answer: it limits requests (status 429)']]);
});

test.each([
  [401, '{"error":{"code":-32600,"message":"Must be authenticated!"}}', 'status 401: -32600 Must be authenticated!'],
  [403, 'Host not in allowlist', 'status 403: Host not in allowlist'],
  [200, '<html><title>Sign in</title></html>', 'status 200: Sign in'],
])('what a node says in place of an answer with status %i is shown', async (status, body, reason) => {
  proxy.misbehave({ kind: 'text', status, body });
  const problem = expect.stringMatching(new RegExp(`^error: does not answer: ${reason}$`));
  expect(await findingsOf()).toEqual([[proxy.url, problem]]);
});

test('a young chain has no block time', async () => {
  const young = await startAnvil({ chainId: CHAIN_ID });
  const { client } = await connectDevChain(young.url);
  await client.mine({ blocks: 20, interval: 60 });
  const multicall3 = deployment.poolFactory;
  await client.setCode({ address: multicall3, bytecode: '0x00' });
  expect(await findingsOf({ rpcUrls: [young.url], multicall3, deployments: [] })).toEqual([]);
  await young.stop();
});
