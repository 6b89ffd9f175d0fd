import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { Redis } from 'ioredis';
import type { Address } from 'viem';
import { createApp } from '../../api/app.ts';
import { startPamm } from '../../api/pamm/start-pamm.ts';
import { bindResources } from '../../api/resources.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { evenBins } from '../../devnet/pools.ts';
import { NO_AUDIT } from '../../quoting/pools/chain-catalog.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { setIndexedBlock } from '../harness/onchain-tables.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { seedPools, seedToken } from '../harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, NOW, openListing } from '../metadata/listing-fixture.ts';
import { chainConfig, evenShares, makePool, SHARES_OF_ONE, startQuoteWorld } from '../quotes/quote-world.ts';
import { quotedChains } from '../quotes/quoted-chains.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { openStreams } from '../stream/open-streams.ts';

/** Ethereum with a builder but no worker: an update is queued, and stays pending. */
const ETHEREUM = ChainConfig.parse({
  chainId: 1,
  name: 'ethereum',
  rpcUrls: ['http://127.0.0.1:1'],
  blockTimeMs: 12_000,
  deployments: [],
  pamm: { kind: 'ethereum', builders: [{ id: 'titan', transport: 'quote-stream', url: 'ws://127.0.0.1:1' }] },
});

/**
 * All endpoints in this process over one pool of WETH and USDC, which a chain has and the listing too. Request limits
 * are off; `good` is a valid key.
 */
export async function openExampleApp() {
  const [world, listing, redis] = await Promise.all([startQuoteWorld(CHAIN_A), openListing(), createRedisDatabase()]);
  const pair = await world.pair(18, 6);
  const shares = evenShares(-2, 2, SHARES_OF_ONE * 4n);
  const { address } = await makePool(world, { pair, price: 3_000, bins: evenBins(-2, 2, 1_000), shares });
  const pool = await servedPool(world.chain, world.deployment, address);
  await seedListing(listing, pool.address, pool.token0.address, pool.token1.address);
  // Examples name blocks and a day that sites ask for once they are final.
  await setIndexedBlock(listing.pool, { chainId: CHAIN_A, number: 40_050_000, timestamp: NOW, isFinal: true });
  await writeTradeMinutes(listing.pool);
  const logger = createLogger('test', 'silent');
  const metrics = createMetrics('test');
  const chains = new Map(
    [chainConfig(CHAIN_A, [world.anvil.url], { deployments: CHAINS_FILE.chains[0]?.deployments ?? [] }), ETHEREUM].map(
      (chain) => [chain.chainId, chain],
    ),
  );
  const pamm = startPamm({
    chains,
    env: {},
    redisUrl: redis.url,
    metrics,
    logger,
    queuePrefix: `t${randomBytes(6).toString('hex')}`,
  });
  const directory = fixedDirectory([{ ...pool, pair: 'WETH/USDC' }]);
  const served = quotedChains([...chains.values()], directory);
  const database = listing.pool;
  const { stop, ...sockets } = openStreams({ chains: served, directory, database, metrics, logger });
  const limiterRedis = new Redis(redis.url, { lazyConnect: true });
  const app: Hono = createApp(
    bindResources({
      ...pamm.deps,
      chains: served,
      directory,
      database,
      logger,
      metrics,
      statusMaxAgeSecs: 60,
      now: () => performance.now(),
      wallClock: Date.now,
      lags: () => [],
      ages: () => ({
        newestPriceAgeSecs: 3,
        oldestPriceAgeSecs: 9,
        listingAgeSecs: 2,
        fiatPriceAgeSecs: 45,
        fiatPricesLost: false,
        audit: NO_AUDIT,
        faultyNodes: [],
      }),
      ...sockets,
      trustedProxies: 0,
    }),
    {
      verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
      rateLimit: {
        limits: LimitsConfig.parse({ enabled: false }),
        redis: limiterRedis,
        prefix: 'test',
        trustedProxies: 0,
      },
      metrics,
      logger,
    },
  );
  return {
    app,
    pool,
    async close() {
      stop();
      await pamm.stop();
      limiterRedis.disconnect();
      await Promise.all([listing.close(), world.stop(), redis.drop()]);
    },
  };
}

async function seedListing({ db, pool, tiers, refresh }: Listing, address: Address, token0: Address, token1: Address) {
  await seedToken(db, { chainId: CHAIN_A, address: token0, symbol: 'WETH', name: 'Wrapped Ether' });
  await seedToken(db, { chainId: CHAIN_A, address: token1, symbol: 'USDC', name: 'USD Coin', decimals: 6 });
  await pool.query(
    `INSERT INTO operator.fiat_price VALUES ($1, $2, 3000, 'static', now()), ($1, $3, 1, 'static', now())`,
    [CHAIN_A, token0, token1],
  );
  const state = { total0Scaled: 4n * 10n ** 18n, total1Scaled: 12_000n * 10n ** 18n };
  const row = { chainId: CHAIN_A, address, token0, token1, token1ScaleMultiplier: 10n ** 12n };
  await seedPools(db, [{ pool: row, state }]);
  tiers.set(address, { tier: 'green', reasonCodes: [] });
  await refresh();
}
