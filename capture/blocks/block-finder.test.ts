import pino from 'pino';
import type { PublicClient } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { connectNode } from '../../devnet/json-rpc.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { createBlockFinder, type FindBlockAt } from './block-finder.ts';
import type { TimedBlock } from './block-search.ts';

const BLOCKS = 300;
const BLOCK_SECS = 30;
const CHAIN = ChainConfig.parse({
  chainId: 31337,
  name: 'devnet',
  rpcUrls: ['http://127.0.0.1:1'],
  blockTimeMs: BLOCK_SECS * 1_000,
  deployments: [],
});

const anvil = startedWorld(() => startAnvil({ chainId: 31337 }));
let proxy: RpcProxy;
let client: PublicClient;
let newest: TimedBlock;
let genesisTime: number;
let warnings: string[];

beforeAll(async () => {
  proxy = await startRpcProxy(anvil.url);
  client = connectNode(proxy.url);
  await client.request({ method: 'anvil_mine', params: [BLOCKS, BLOCK_SECS] } as never);
  const [first, last] = [await client.getBlock({ blockNumber: 0n }), await client.getBlock()];
  genesisTime = Number(first.timestamp);
  newest = { number: Number(last.number), timestamp: Number(last.timestamp) };
});

afterAll(() => proxy?.stop());

beforeEach(() => {
  warnings = [];
  proxy.misbehave(null);
});

/** A clock that waits this long for the chain; what it warns of is kept. */
function clockWith(timeoutMs: number, requestTimeoutMs = 60_000): FindBlockAt {
  const logger = pino({}, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });
  return createBlockFinder(
    openChainRpc({ chainId: 31337, rpcUrls: [proxy.url] }, requestTimeoutMs),
    CHAIN,
    logger,
    timeoutMs,
  );
}

const timeOf = async (number: number): Promise<number> =>
  Number((await client.getBlock({ blockNumber: BigInt(number) })).timestamp);

test('finds the last block at or before a time, the block itself at its very second', async () => {
  const clock = clockWith(60_000);
  for (const number of [1, 2, 77, BLOCKS - 1]) {
    const time = await timeOf(number);
    expect([await clock(time - 1, newest), await clock(time, newest)]).toEqual([number - 1, number]);
  }
  expect(await clock(newest.timestamp + 9, newest)).toBe(newest.number);
  expect(await clock(genesisTime - 1, newest)).toBe(-1);
});

test('blocks that nodes no longer have are not asked for', async () => {
  const oldest = 100;
  proxy.misbehave({
    kind: 'rewritten',
    request: (request) => (Number(request.params?.[0]) < oldest ? { answer: { result: null } } : request),
    text: (text) => text,
  });
  const clock = clockWith(60_000);
  for (const number of [210, 260, BLOCKS - 2]) expect(await clock(await timeOf(number), newest)).toBe(number);
  expect(warnings).toEqual([]);
});

test('a window that slides on starts from where it was', async () => {
  const clock = clockWith(60_000);
  const time = await timeOf(50);
  await clock(time, newest);
  const before = proxy.requests.length;
  expect(await clock(time + BLOCK_SECS, newest)).toBe(51);
  expect(proxy.requests.length - before).toBeLessThanOrEqual(4);
});

test.each([
  ['refuses', { kind: 'down' }],
  ['hangs', { kind: 'hanging' }],
] as const)(
  'while the node %s it estimates, at once and with one warning; then it is exact again',
  async (_, fault) => {
    const findBlockAt = clockWith(200, 2_000);
    const time = newest.timestamp - 200 * BLOCK_SECS;
    proxy.misbehave(fault);
    for (let round = 0; round < 3; round += 1) expect(await findBlockAt(time - 1, newest)).toBe(newest.number - 201);
    expect(await findBlockAt(genesisTime - 9 * BLOCK_SECS, newest)).toBe(-1);
    expect(warnings).toEqual(['blocks of times are estimated until the chain can be read']);

    proxy.misbehave(null);
    const exact = await timeOf(77);
    await expect.poll(() => findBlockAt(exact, newest), { timeout: 45_000, interval: 250 }).toBe(77);
  },
);

test('a node that hangs is asked once at a time, and its callers are not kept waiting', async () => {
  proxy.misbehave({ kind: 'hanging' });
  const findBlockAt = clockWith(100);
  const before = proxy.requests.length;
  const begun = performance.now();
  for (let round = 0; round < 5; round += 1) await findBlockAt(newest.timestamp - 1, newest);
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(proxy.requests.length - before).toBe(1);
});
