import { expect, onTestFinished, test, vi } from 'vitest';
import { openChainRpc } from '../chain/chain-rpc.ts';
import { LiveConfig } from '../config/live-schema.ts';
import { request } from '../devnet/json-rpc.ts';
import { startLiveMarket } from '../devnet/live/live-market.fixture.ts';
import type { ProxiedRequest } from '../devnet/misbehaviour.ts';
import { startPartNode } from '../devnet/parts/part-node.ts';
import { startRpcProxy } from '../devnet/rpc-proxy.ts';
import { createLogger } from '../runtime/logger.ts';
import { openWorld } from '../test/harness/open-world.ts';
import { partSource } from '../test/live/part-world.ts';
import { chainConfig, eagerQuotes } from '../test/quotes/quote-world.ts';
import { chainBounds } from './chain-bounds.ts';
import { openHeads } from './open-heads.ts';

const PARTS = 2;

const world = openWorld(async (ends) => {
  const market = await startLiveMarket({ flatPools: 1, packedPools: 0 });
  ends.defer(market.close);
  const node = await startPartNode(market.chain, { partsPerBlock: PARTS });
  ends.defer(node.stop);
  return { ...market, node };
});

/** The heads of a chain whose socket pushes parts as heads. */
async function openPushed(rpcUrl: string, hasSource = true) {
  const { chain, node } = world;
  // The same node as the source, by another name: nothing says that it pushes parts.
  const config = chainConfig(chain.chainId, [rpcUrl], {
    blockTimeMs: 2_000,
    wsUrls: [`${node.wsUrl}/heads`],
    ...(hasSource && { live: LiveConfig.parse(partSource(node, false)) }),
  });
  const rpc = openChainRpc(config, 5_000);
  const logger = createLogger('test', 'silent');
  const clocks = { now: () => performance.now(), wallClock: () => Date.now() };
  const context = {
    config,
    bounds: chainBounds(config, eagerQuotes),
    rpc,
    countCall: () => undefined,
    logger,
    ...clocks,
  };
  const heads = openHeads(context, { protectedAccounts: () => new Set() });
  await vi.waitFor(() => expect(node.subscriptions('newHeads')).toBe(1));
  return heads;
}

/** Seals the block of the newest part. @param isPaid whether each part has another hash @returns its number */
async function seal(isPaid = false): Promise<bigint> {
  const { chain, node } = world;
  const { trader: from, taker: to } = chain.roles;
  const { number } = node.part();
  while (node.part().number === number) {
    if (isPaid) await request(chain.rpcUrl, 'eth_sendTransaction', [{ from, to, value: '0x1' }]);
    await node.nextPart();
  }
  return number;
}

test.each([
  ['with a source of parts', true],
  ['without one', false],
])('a socket of heads that pushes parts moves no head, not even once: %s', async (_, hasSource) => {
  const { chain, node } = world;
  await vi.waitFor(() => expect(world.node.subscriptions('newHeads')).toBe(0));
  const { committed, close } = await openPushed(node.url, hasSource);
  const taken: { readonly number: bigint; readonly hash: string }[] = [];
  committed.onHead(({ block }) => taken.push(block));
  for (let block = 0; block < 4; block += 1) {
    const number = await seal(true);
    await vi.waitFor(async () => expect((await committed.head()).block.number).toBe(number));
  }
  close();
  for (const { number, hash } of taken) expect(hash).toBe((await chain.client.getBlock({ blockNumber: number })).hash);
  expect(taken.every(({ number }, index) => number >= (taken[index - 1]?.number ?? 0n))).toBe(true);
});

test('a pushed head that a node has only a moment later is taken, without a poll', async () => {
  const proxy = await startRpcProxy(world.node.url);
  onTestFinished(proxy.stop);
  const asked = new Set<unknown>();
  const isFirst = ({ method, params: [hash] }: ProxiedRequest) => {
    if (method !== 'eth_getBlockByHash' || asked.has(hash)) return false;
    asked.add(hash);
    return true;
  };
  proxy.misbehave({ kind: 'result', result: null }, isFirst);
  await vi.waitFor(() => expect(world.node.subscriptions('newHeads')).toBe(0));
  const { committed, close } = await openPushed(proxy.url);
  for (let block = 0; block < 2; block += 1) {
    const number = await seal();
    await vi.waitFor(() => expect(committed.current?.block.number).toBe(number));
  }
  close();
  expect(proxy.requests.filter(({ method }) => method === 'eth_getBlockByNumber')).toEqual([]);
});
