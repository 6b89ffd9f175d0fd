import { privateKeyToAccount } from 'viem/accounts';
import { beforeAll, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import type { Hex } from '../submit/quote-update.ts';
import { simulate } from './simulator.ts';

const CHAIN = 31337;
/** Has no balance at all: a simulation is about what the update does. */
const signer = privateKeyToAccount(`0x${'44'.repeat(32)}`);
/** Returns when called with the sender's address as call data, reverts otherwise. */
const CONTRACT = '0x00000000000000000000000000000000000c0de0';
// CALLER, CALLDATALOAD(0) >> 96, EQ, JUMPI to the JUMPDEST at the end; otherwise REVERT(0, 0).
const CODE = '0x33 600035 60601c 14 601057 60006000fd 5b00'.replaceAll(' ', '');

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN }));

beforeAll(async () => {
  await rpc('anvil_setCode', [CONTRACT, CODE]);
});
const JSON_TYPE = { 'Content-Type': 'application/json' };

async function rpc(method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return ((await (await fetch(anvil.url, { method: 'POST', headers: JSON_TYPE, body })).json()) as { result: unknown })
    .result;
}

const rpcOf = (url: string) => openChainRpc({ chainId: CHAIN, rpcUrls: [url] }, 5_000);

const sign = (data: Hex): Promise<Hex> =>
  signer.signTransaction({
    type: 'eip1559',
    chainId: CHAIN,
    nonce: 12,
    gas: 100_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
    to: CONTRACT,
    value: 1n,
    data,
  });

test('an update runs as its signer, recovered from the signature', async () => {
  const tx = await sign(`${signer.address.toLowerCase()}${'00'.repeat(12)}` as Hex);
  expect(await simulate(rpcOf(anvil.url), tx)).toEqual({ outcome: 'success' });
});

test('an update that reverts is distinguished', async () => {
  expect(await simulate(rpcOf(anvil.url), await sign('0x'))).toMatchObject({ outcome: 'reverted' });
});

test('an unreachable node says nothing about the update', async () => {
  expect(await simulate(rpcOf('http://127.0.0.1:1'), await sign('0x'))).toMatchObject({ outcome: 'unavailable' });
});
