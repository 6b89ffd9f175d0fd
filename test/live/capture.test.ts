import { beforeEach, expect, test } from 'vitest';
import { type LivePool, ONE } from '../../devnet/live/live-pools.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startedWorld } from '../harness/open-world.ts';
import { startCapturedWorld } from './captured-world.ts';
import { updateAll, waitForLive, waitForUpdates } from './live-world.ts';

/*
 * What capture says of pools whose prices live with a builder: the listing follows the rule of quotes,
 * with the builder as a source and without.
 */

const SALE = { zeroForOne: true, amountSpecified: ONE };
/** Hundredths of token1 per token0: beyond what the velocity guard allows in a block. */
const JUMP = 210n;
const CALLS_PER_MINUTE = 20;

const world = startedWorld(() =>
  // Without HTTP, so that the source can fall silent.
  startCapturedWorld({ flatPools: 3, packedPools: 3 }, ({ market: { builder } }) => ({
    sources: [{ kind: 'builder-overrides', wsUrls: [builder.builderStreamUrl] }],
  })),
);

beforeEach(() => world.market.builder.setLanding('with-trade'));

const statuses = async () => {
  const { data } = await world.listing.page(world.config.chainId, { count: 500, minTvlFiat: 0 });
  const byPool = new Map(data.map(({ poolAddress, priceProviderStatus }) => [poolAddress, priceProviderStatus]));
  return world.market.pools.map(({ address }) => byPool.get(address));
};

const all = <T>(value: T) => world.market.pools.map(() => value);

/** Captures until the listing has these statuses: frames reach capture at its own pace. */
const capturedAs = (expected: readonly unknown[]) =>
  expect.poll(() => world.capture().then(statuses)).toEqual(expected);

const captured = async () => {
  const { rows } = await world.database.query<{ pool: string; sell_price_x64: string | null }>(
    'SELECT pool, basis, sell_price_x64, trades_live FROM operator.price_health',
  );
  return new Map(rows.map((row) => [row.pool, row]));
};

/** What the API quotes once all pools are live. */
const quotes = async () => {
  const { results } = await waitForLive(world);
  return results.map((result) => {
    if (!('quote' in result)) throw new Error(result.error.error);
    return result.quote;
  });
};

const quotedStatuses = async () => (await quotes()).map(({ priceProviderStatus }) => priceProviderStatus);

test('pools are down while no update is pending, and healthy while one is', async () => {
  const { market } = world;
  await market.builder.buildBlock();
  // Packed pools are listed once it is decided how their storage is read.
  await capturedAs(all('feed_down'));
  await waitForUpdates(world, await updateAll(market, () => 200n));
  await capturedAs(all('healthy'));
  const rows = await captured();
  for (const { poolAddress, bidAdj } of await quotes()) {
    expect(rows.get(poolAddress)).toMatchObject({ basis: 'live', trades_live: true, sell_price_x64: bidAdj });
  }
});

test('a pool whose update landed is healthy by its committed price, all others are down', async () => {
  const { market, capture } = world;
  const [first] = market.pools as [LivePool];
  await updateAll(market, () => 201n);
  await market.builder.buildBlock({ trades: [market.trade(first, SALE)] });
  await capture();
  expect(await statuses()).toEqual(market.pools.map((pool) => (pool === first ? 'healthy' : 'feed_down')));
  expect((await captured()).get(first.address)).toMatchObject({ basis: 'committed', trades_live: false });
  // With an update for the next block it has both prices.
  await waitForUpdates(world, await updateAll(market, () => 202n));
  await capturedAs(all('healthy'));
  expect((await captured()).get(first.address)).toMatchObject({ basis: 'committed', trades_live: true });
  market.builder.setLanding('never');
  await market.builder.buildBlock();
  await capture();
  expect(await statuses()).toEqual(all('feed_down'));
});

test('guards are asked at the live price: the listing shows what quotes show', async () => {
  const { market } = world;
  await updateAll(market, () => 200n);
  // The velocity guard measures from the last swap.
  await market.builder.buildBlock({ trades: market.pools.map((pool) => market.trade(pool, SALE)) });
  market.builder.setLanding('never');
  await market.builder.buildBlock();
  await waitForUpdates(world, await updateAll(market, () => JUMP));
  const quoted = await quotedStatuses();
  expect(quoted).toEqual(market.pools.map(({ guard }) => (guard === 'velocity' ? 'pool_refused' : 'healthy')));
  await capturedAs(quoted);
});

test('reads in the block being built take calls from the budget', async () => {
  const { market, openCapture } = world;
  await waitForUpdates(world, await updateAll(market, () => 200n));
  const least = openCapture({ callsPerMinute: CALLS_PER_MINUTE });
  for (let round = 0; round < 12; round++) await least.run(['guards', 'transfers', 'price-health-31337']);
  const sent = least.calls.filter((method) => method.startsWith('eth_') && method !== 'eth_subscribe');
  expect(sent.length).toBeGreaterThan(4);
  expect(sent.length).toBeLessThanOrEqual(CALLS_PER_MINUTE);
});

test.each(['refuse', 'ignore'] as const)('nodes that %s overrides leave the committed status', async (how) => {
  const { market, openCapture } = world;
  await waitForUpdates(world, await updateAll(market, () => 200n));
  await capturedAs(all('healthy'));
  const proxy = await startRpcProxy(market.chain.rpcUrl);
  proxy.misbehave({ kind: 'noOverrides', how });
  const other = openCapture({ rpcUrls: [proxy.url] });
  const hasTried = async () => {
    await other.run(['price-health', 'listing']);
    return proxy.requests.some(({ method, params }) => method === 'eth_call' && params.length > 2);
  };
  // Frames reach capture at its own pace.
  await expect.poll(hasTried).toBe(true);
  expect(await statuses()).toEqual(all('feed_down'));
  await other.stop();
  await proxy.stop();
});

test('a source that falls silent leaves the committed status, until it is back', async () => {
  const { market } = world;
  await market.builder.buildBlock();
  await waitForUpdates(world, await updateAll(market, () => 200n));
  market.builder.pause();
  await capturedAs(all('feed_down'));
  market.builder.resume();
  await capturedAs(all('healthy'));
});
