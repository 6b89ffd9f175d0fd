import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { priceWarnings } from '../../api/observability/price-warnings.ts';
import { openDatabase } from '../../db/connection.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { createLogger } from '../../runtime/logger.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import type { ListingParams, Page } from '../../test/metadata/listing-reader.ts';
import { priceTimes } from '../listing/price-age.ts';
import { readPriceTimes } from '../listing/write-listing.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { defiLlamaPrices } from './defillama.ts';
import { refreshFiatPrices } from './refresh-prices.ts';
import { readTokensToPrice } from './tokens-to-price.ts';

/** Pools that the default floor lists, of 30 USD or more; below them one of 9 USD, one without value, an empty one. */
const FUNDED = 33;
const SMALL = 9n;
const NEVER_PRICED = seedAddress(0x72);
const FLOOR_USD = 10;
const DAY_SECS = 86_400;

const listing = startedWorld(openListing);
let source: { readonly server: Server; readonly url: string };

const poolAt = (n: number) => seedAddress(0x1000 + n);

beforeAll(async () => {
  source = await openSource();
  for (const address of [TOKEN0, TOKEN1, NEVER_PRICED]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  const held = [...Array.from({ length: FUNDED }, (_, n) => BigInt(30 + ((n * 7) % FUNDED))), SMALL, 100n, 0n];
  await seedPools(
    listing.db,
    held.map((whole, n) => ({
      pool: { chainId: CHAIN_A, address: poolAt(n), ...(n === FUNDED + 1 && { token1: NEVER_PRICED }) },
      state: { total0Scaled: whole * 10n ** 18n, total1Scaled: whole > 0n ? 10n ** 17n : 0n },
    })),
  );
});

afterAll(() => source.server.close());

/** What the service says of a token's decimals. */
const decimalsSaid = new Map<string, unknown>();

/** A service that prices two tokens at a dollar, as DefiLlama does. */
async function openSource() {
  const server = createServer((_, response) => {
    const priced = { price: 1, timestamp: Math.floor(Date.now() / 1_000), confidence: 0.99 };
    const coins = Object.fromEntries(
      [TOKEN0, TOKEN1].map((token) => [`devnet-a:${token}`, { ...priced, decimals: decimalsSaid.get(token) }]),
    );
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ coins }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A run of capture's jobs of prices and listing, by a process that has just started. */
async function runJobs() {
  const registry = createRegistry(CHAINS_FILE);
  const priced = refreshFiatPrices({
    database: listing.pool,
    registry,
    tokens: () => readTokensToPrice(listing.pool, registry, []),
    sources: [
      defiLlamaPrices({
        baseUrl: source.url,
        chains: CHAINS_FILE.chains,
        now: () => performance.now(),
        wallClock: Date.now,
      }),
    ],
    fiatMaxAgeSecs: 600,
    statusMaxAgeSecs: 60,
    wallClock: () => Date.now(),
  });
  const failure = await priced.then(
    () => null,
    (error: Error) => error.message,
  );
  await listing.refresh();
  return failure;
}

const pass = (secs: number) =>
  listing.pool.query('UPDATE operator.fiat_price SET priced_at = priced_at - make_interval(secs => $1)', [secs]);

/** What an API process that has just started warns of, and the age that `/status` shows. */
async function warnings() {
  const database = openDatabase(listing.url, 'ptd_api', createLogger('test', 'silent'));
  const catalog = new PoolCatalog({
    database,
    chains: CHAINS_FILE.chains,
    logger: createLogger('test', 'silent'),
    now: () => performance.now(),
  });
  await catalog.table();
  const ages = (chainId: number) => catalog.ages(chainId);
  const shown = [priceWarnings([CHAIN_A], ages), ages(CHAIN_A).fiatPriceAgeSecs];
  catalog.stop();
  await database.$client.end();
  return shown;
}

/** What readers of aggregators send. */
const CALLS: readonly ListingParams[] = [
  { count: 50, offset: 0 },
  { count: 500, offset: 0, include24h: true, fiat: 'USD' },
];
const addresses = ({ data }: Page) => data.map(({ poolAddress }) => poolAddress);
const listed = async (query: ListingParams) => addresses(await listing.page(CHAIN_A, { count: 500, ...query }));

test('once the price source is dead, each pool that a floor let through stays listed in its place, without a value', async () => {
  const lost = { [`fiat-prices-${CHAIN_A}`]: expect.stringContaining('no current token price') };
  await listing.refresh();
  // A chain without prices lost none.
  expect(await warnings()).toEqual([{}, null]);
  expect(await runJobs()).toBeNull();
  expect(await warnings()).toEqual([{}, expect.closeTo(0, -2)]);
  const sorted = await listed({ sortBy: 'tvl' });
  const above50 = await listed({ minTvlFiat: 50 });
  expect([sorted.length, above50.length]).toEqual([FUNDED, 13]);
  const largest = async () => (await listing.page(CHAIN_A, { include24h: true, sortBy: 'tvl' })).data[0];
  expect(await largest()).toMatchObject({ token0FiatPrice: 1, tvlFiat: 62.1 });

  source.server.close();
  source.server.closeAllConnections();
  await pass(601);
  expect(await runJobs()).toBe('a price source failed');
  for (const query of CALLS) {
    const { data, total, sums } = await listing.page(CHAIN_A, query);
    expect([total, data.length]).toEqual([FUNDED, FUNDED]);
    expect(data.every(({ token0FiatPrice }) => token0FiatPrice === null)).toBe(true);
    if (!query.include24h) continue;
    for (const { tvlFiat, aprBps7d, analytics24h } of data) {
      expect([tvlFiat, aprBps7d, analytics24h?.tvlFiat]).toEqual([null, undefined, null]);
      expect(analytics24h).toMatchObject({ fiatStatus: 'unavailable', token0: { liquidityFiat: null } });
    }
    expect(sums).toEqual({ tvlFiat: null, volumeFiat: 0, depthFiat: null });
  }
  expect(await listed({ sortBy: 'tvl' })).toEqual(sorted);
  expect(await listed({ minTvlFiat: 50 })).toEqual(above50);
  expect(await warnings()).toEqual([lost, expect.closeTo(601, -2)]);

  // After a day the last value decides over the default floor alone.
  await pass(DAY_SECS);
  await runJobs();
  for (const query of CALLS) expect((await listing.page(CHAIN_A, query)).total).toBe(FUNDED);
  expect(new Set(await listed({ sortBy: 'tvl' }))).toEqual(new Set(sorted));
  expect(await listed({ minTvlFiat: FLOOR_USD + 0.01 })).toEqual([]);
  expect(await warnings()).toEqual([lost, expect.closeTo(DAY_SECS + 601, -2)]);

  source = await openSource();
  expect(await runJobs()).toBeNull();
  expect(await warnings()).toEqual([{}, expect.closeTo(0, -2)]);
  expect(await listed({ sortBy: 'tvl' })).toEqual(sorted);
  expect(await largest()).toMatchObject({ token0FiatPrice: 1, tvlFiat: 62.1 });
});

test('prices are lost where the configured source gave some once, whatever another one gave', async () => {
  const age = (token: string, secs: number, source: string) =>
    listing.pool.query(
      'UPDATE operator.fiat_price SET source = $3, priced_at = now() - make_interval(secs => $2) WHERE token = $1',
      [token, secs, source],
    );
  await age(TOKEN0, 40 * DAY_SECS, 'defillama');
  await age(TOKEN1, 0, 'static');
  const isLost = async (source: string) => {
    const times = priceTimes(Date.now(), 600);
    return (await readPriceTimes(listing.pool, times, source)).map(({ isFiatLost }) => isFiatLost);
  };
  expect([await isLost('defillama'), await isLost('static')]).toEqual([[true], [false]]);
  await listing.pool.query('DELETE FROM operator.fiat_price');
  expect(await isLost('defillama')).toEqual([false]);
});

test('a price by other decimals than the token has is none: what the pool holds would be wrong by powers of ten', async () => {
  const values = async (said: unknown) => {
    await listing.pool.query('DELETE FROM operator.fiat_price');
    decimalsSaid.set(TOKEN0, said);
    expect(await runJobs()).toBeNull();
    const { data } = await listing.page(CHAIN_A, { include24h: true, addresses: poolAt(0) });
    return [data[0]?.token0FiatPrice, data[0]?.token1FiatPrice, data[0]?.tvlFiat];
  };
  expect(await values(6)).toEqual([null, 1, null]);
  for (const said of [18, null, '18', undefined]) expect(await values(said)).toEqual([1, 1, 30.1]);
});
