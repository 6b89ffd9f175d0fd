import { zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { LiveConfig } from '../../config/live-schema.ts';
import { priceAround, startLiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { startPartNode } from '../../devnet/parts/part-node.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { openWorld } from '../../test/harness/open-world.ts';
import { partSource } from '../../test/live/part-world.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { servedPool } from '../../test/quotes/served-pool.ts';
import { createLiveQuotes } from './live-quotes.ts';
import { MAX_LATE_MS } from './live-window.ts';

const market = openWorld(async (ends) => {
  const started = await startLiveMarket({ flatPools: 2, packedPools: 0, guards: ['none', 'velocity'] });
  ends.defer(started.close);
  const node = await startPartNode(started.chain, { partsPerBlock: 2 });
  ends.defer(node.stop);
  const front = await startRpcProxy(node.url);
  ends.defer(front.stop);
  return { ...started, node, front };
});

/** A clock on which each call to the node of parts that ends takes 50 ms, and nothing else does. */
const clock = { ms: 0 };
const countCall = () => {
  clock.ms += 50;
};

/** Reads both pools by a reader that knows nothing of them, on the parts that are shown in time. */
async function readLive(withinMs = Number.POSITIVE_INFINITY, isDivergent = false) {
  const { chain, deployment, node, front, pools } = market;
  const live = LiveConfig.parse(partSource({ ...node, url: front.url }, false));
  const config = chainConfig(chain.chainId, [chain.rpcUrl], { live });
  const logger = { warn: () => undefined, info: () => undefined, child: () => logger } as never;
  const deps = {
    chain: config,
    rpc: openChainRpc(config, 5_000),
    reserve: () => true,
    readMs: 60_000,
    logger,
  };
  const clocks = { now: () => clock.ms, wallClock: () => Date.now() };
  const read = createLiveQuotes({ ...deps, ...clocks, countCall, divergence: { isDivergent: () => isDivergent } });
  // The guard of the second pool is an unknown one: its sides are tried by further calls.
  const known = { ...deployment, priceVelocityGuard: zeroAddress };
  const served = await Promise.all(pools.map(({ address }) => servedPool(chain, known, address)));
  return read?.(served, clock.ms + withinMs);
}

test('pools that are not read before the next block are left out of the quotes of the block', async () => {
  const { node, front, pools } = market;
  const { number, timeSecs } = node.part();
  for (const { maker } of pools) {
    node.submit((await maker.sign({ number, timeSecs, slot: 0n }, priceAround(200n))).transaction);
  }
  await node.nextPart();
  const whole = await readLive();
  expect(whole?.number).toBe(number - 1n);
  expect([...(whole?.quotes.keys() ?? [])]).toEqual(pools.map(({ address }) => address));
  // The last call is that of the guard of the second pool: it runs in the next block.
  const calls = front.requests.length;
  const next = Promise.withResolvers<void>();
  const showNext = async () => {
    while (node.part().number === number) await node.nextPart();
  };
  front.misbehave({ kind: 'held', until: next.promise }, () => {
    const isLast = front.requests.length === 2 * calls;
    if (isLast) showNext().then(next.resolve, next.reject);
    return isLast;
  });
  const partly = await readLive();
  expect(partly?.number).toBe(number - 1n);
  expect([...(partly?.quotes.keys() ?? [])]).toEqual([pools[0]?.address]);
});

test('a part that was shown in time counts, however long the calls take that read it', async () => {
  const startedAt = clock.ms;
  // The node is asked for its chain and for the part: pools are read after that.
  const whole = await readLive(100);
  expect([...(whole?.quotes.keys() ?? [])]).toEqual(market.pools.map(({ address }) => address));
  expect(clock.ms - startedAt).toBeGreaterThan(100);
  // The call that shows the part ends too late.
  expect(await readLive(49)).toBeNull();
});

test('while parts are left out, none is asked for', async () => {
  const calls = market.front.requests.length;
  expect(await readLive(MAX_LATE_MS, true)).toBeNull();
  expect(market.front.requests.length).toBe(calls);
});
