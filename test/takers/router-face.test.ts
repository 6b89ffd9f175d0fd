import { type Address, createPublicClient, encodeFunctionData, http } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, paidBy, startLiveWorld, updateAll, waitForUpdates } from '../live/live-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { startStreamApi } from '../stream/stream-api.ts';
import { FACE, faceCalls, faceCode, quoteThroughFace } from './prop-amm-face.ts';
import { rpcClient } from './rpc-client.ts';

/* A pool is traded through the router that the service names for it, by the calls of the standard face alone. */

const world = startedWorld(() => startLiveWorld({ flatPools: 1, packedPools: 0, guards: ['none'] }));

/** Deploys the router of a pool in a block of its own. */
async function deployFace(pool: Address): Promise<Address> {
  const { builder, chain, token0, token1 } = world.market;
  const transaction = { from: chain.roles.trader, data: faceCode(pool, token0, token1) };
  const { trades } = await builder.buildBlock({ trades: [{ transaction, feedIds: [] }] });
  return trades[0]?.contractAddress?.toLowerCase() as Address;
}

test('a pool is traded through its router, by the calls of the standard face alone', async () => {
  const { market, config, served } = world;
  const [pool] = market.pools;
  if (!pool) throw new Error('there is no pool');
  const router = await deployFace(pool.address);
  const sources = config.live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
  const chain = { ...config, live: { ...config.live, sources } };
  const api = await startStreamApi({ chain, directory: fixedDirectory(served.map((each) => ({ ...each, router }))) });
  onTestFinished(() => api.stop());
  await market.builder.buildBlock();
  await waitForUpdates(world, await updateAll(market, () => 203n), batchesOf(api));
  const rpc = rpcClient(() => `${new URL(api.base).origin}/rpc/${config.chainId}`);
  const asked = [market.token0, market.token1, `0x${(10n ** 17n).toString(16)}`];
  const named = JSON.parse(await rpc.askText('titan_getPammQuote', asked)) as Record<string, string>;
  expect([named.pamm, named.router]).toEqual([pool.address, router]);
  // On the chain itself the pool has no price.
  const node = createPublicClient({ transport: http(market.chain.rpcUrl) });
  const args = [market.token0, market.token1, 10n ** 17n] as const;
  const data = encodeFunctionData({ abi: FACE, functionName: 'quote', args });
  await expect(node.call({ to: router, data })).rejects.toThrow('inactive');
  const block = async () => market.builder.block();
  const nodeUrl = market.chain.rpcUrl;
  const order = await quoteThroughFace({
    base: api.base,
    nodeUrl,
    face: router,
    venue: pool.venue,
    pollMs: 20,
    block,
  });
  expect(order.amountOut).toBeGreaterThanOrEqual(BigInt(named.amountOut ?? 0));
  const { trader } = market.chain.roles;
  const deadline = market.builder.block().timeSecs;
  const calls = faceCalls(router, order, { minAmountOut: order.amountOut, recipient: trader, deadline });
  const { trades } = await market.builder.buildBlock({
    trades: calls.map((call) => ({ transaction: { from: trader, ...call }, feedIds: [pool.feedId] })),
  });
  expect(trades.map(({ status }) => status)).toEqual(['success', 'success']);
  expect(trades[1] && paidBy(market, trades[1], pool.address, true)).toBe(order.amountOut);
});
