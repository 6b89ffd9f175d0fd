import { type Address, type Hex, numberToHex, zeroHash } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAnvil } from '../devnet/anvil.ts';
import { connectDevChain, type DevChain } from '../devnet/dev-chain.ts';
import { type RpcProxy, startRpcProxy } from '../devnet/rpc-proxy.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { anyNodeHas } from './ability-probes.ts';
import { openChainRpc } from './chain-rpc.ts';
import { traceWrites } from './trace-writes.ts';

const FROM: Address = `0x${'11'.repeat(20)}`;
const AT: Address = `0x${'33'.repeat(20)}`;
const PENDING = { blockNumber: 7_777n, timestamp: 4_000_000_000n };
const word = (value: bigint) => numberToHex(value, { size: 32 });

const anvil = startedWorld(() => startAnvil({ chainId: 31_337 }));
let chain: DevChain;
let proxy: RpcProxy;
beforeAll(async () => {
  [chain, proxy] = await Promise.all([connectDevChain(anvil.url), startRpcProxy(anvil.url)]);
});
afterAll(() => proxy.stop());

const canTrace = (...urls: string[]) => anyNodeHas(rpcOf(...urls).endpoints, 'traces');
const rpcOf = (...rpcUrls: string[]) => openChainRpc({ chainId: 31_337, rpcUrls }, 30_000);

/** What code would write that is put at an account whose slot 1 holds 5, as slot 2 does. */
async function writesOf(code: Hex, call: { readonly value?: bigint; readonly nonce?: number } = {}) {
  await chain.client.setCode({ address: AT, bytecode: code });
  for (const index of [1, 2]) await chain.client.setStorageAt({ address: AT, index, value: word(5n) });
  await chain.client.mine({ blocks: 1 });
  const { hash } = await chain.client.getBlock();
  const traced = { from: FROM, to: AT, data: '0x', value: 0n, gas: 200_000n, ...call } as const;
  const words = await traceWrites(rpcOf(anvil.url), traced, { hash, target: PENDING });
  return Object.fromEntries([...words].map(([account, slots]) => [account, Object.fromEntries(slots)]));
}

test('words that change are found, in a block of the given number and time', async () => {
  // sstore(1, timestamp), sstore(3, number), sstore(2, 5)
  expect(await writesOf('0x426001554360035560056002550000')).toEqual({
    [AT]: { [word(1n)]: word(PENDING.timestamp), [word(3n)]: word(PENDING.blockNumber) },
  });
});

test('a word that becomes zero is found', async () => {
  expect(await writesOf('0x600060015500')).toEqual({ [AT]: { [word(1n)]: zeroHash } });
});

test('a call that reverts, or only reads or pays, writes nothing', async () => {
  expect(await writesOf('0x602a60015560006000fd')).toEqual({});
  expect(await writesOf('0x60015400')).toEqual({});
  await chain.client.setBalance({ address: FROM, value: 10n });
  expect(await writesOf('0x00', { value: 1n })).toEqual({});
});

test('a transaction whose nonce is used writes nothing, one that others may come before does', async () => {
  await chain.client.setNonce({ address: FROM, nonce: 7 });
  const written = { [AT]: { [word(1n)]: word(42n) } };
  const code: Hex = '0x602a60015500';
  const words = [];
  for (const nonce of [6, 7, 8]) words.push(await writesOf(code, { nonce }));
  expect(words).toEqual([{}, written, written]);
});

test('nodes trace if one of them does, with overrides', async () => {
  expect(await canTrace(anvil.url)).toBe(true);
  proxy.misbehave({ kind: 'error', code: -32_601, message: 'not available' });
  expect(await canTrace(proxy.url)).toBe(false);
  expect(await canTrace(proxy.url, anvil.url)).toBe(true);
  proxy.misbehave({ kind: 'result', result: { pre: {}, post: {} } });
  expect(await canTrace(proxy.url)).toBe(false);
  proxy.misbehave({ kind: 'down' });
  await expect(canTrace(proxy.url)).rejects.toMatchObject({ code: 'unreachable' });
  proxy.misbehave(null);
});

test('an unknown block is refused', async () => {
  const call = { from: FROM, to: AT, data: '0x', value: 0n, gas: 100_000n } as const;
  const unknown = traceWrites(rpcOf(anvil.url), call, { hash: word(1n), target: PENDING });
  await expect(unknown).rejects.toMatchObject({ code: 'refused' });
});
