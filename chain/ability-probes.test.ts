import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAnvil } from '../devnet/anvil.ts';
import { type RpcProxy, startRpcProxy } from '../devnet/rpc-proxy.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { anyNodeHas } from './ability-probes.ts';
import { openChainRpc } from './chain-rpc.ts';

const CHAIN_ID = 31_337;

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
let proxy: RpcProxy;
beforeAll(async () => {
  proxy = await startRpcProxy(anvil.url);
});
afterAll(() => proxy.stop());

async function supportOf(url: string) {
  const { endpoints } = openChainRpc({ chainId: CHAIN_ID, rpcUrls: [url] }, 30_000);
  const state = await anyNodeHas(endpoints, 'stateOverrides');
  return { state, stateAndBlock: await anyNodeHas(endpoints, 'blockOverrides') };
}

test('anvil applies overrides of state and block', async () => {
  expect(await supportOf(anvil.url)).toEqual({ state: true, stateAndBlock: true });
});

test.each([
  ['refuse', false],
  ['ignore', false],
  ['ignoreBlock', true],
] as const)('a node that does not apply them is recognised: %s', async (how, state) => {
  proxy.misbehave({ kind: 'noOverrides', how });
  expect(await supportOf(proxy.url)).toEqual({ state, stateAndBlock: false });
});

test.each([
  ['does not answer', { kind: 'down' }, 'unreachable'],
  ['limits requests', { kind: 'error', code: -32_005, message: 'limit exceeded' }, 'refused'],
] as const)('of a node that %s nothing is known', async (_, how, code) => {
  proxy.misbehave(how, ({ method }) => method === 'eth_call');
  await expect(supportOf(proxy.url)).rejects.toMatchObject({ code });
});
