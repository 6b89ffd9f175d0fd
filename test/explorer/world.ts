import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { createApp } from '../../api/app.ts';
import { readPageFiles } from '../../api/explorer/page-files.ts';
import { mountExplorer } from '../../api/explorer/pages.ts';
import type { ChainLag } from '../../api/observability/chain-lag.ts';
import { bindResources } from '../../api/resources.ts';
import { PoolOutlooks } from '../../api/route/pool-outlooks.ts';
import { createSnapshotService } from '../../api/snapshots/snapshot-service.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { RoutingConfig } from '../../config/routing-schema.ts';
import { sendSwap } from '../../devnet/actions.ts';
import { evenBins } from '../../devnet/pools.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { CHAIN_A, CHAIN_B, CHAINS_FILE, type Listing, NOW, openListing } from '../metadata/listing-fixture.ts';
import {
  chainConfig,
  eagerQuotes,
  evenShares,
  makePool,
  movePrice,
  type Pair,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { HOSTILE_SYMBOL, seedMarket } from './seed-market.ts';

/** The service in this process over a still chain, with its web page. Nothing moves unless the test moves it. */
export type ExplorerWorld = {
  readonly url: string;
  /** Of WETH and USDC at 3000; the first is the larger. */
  readonly pools: readonly [WorldPool, WorldPool];
  readonly hostile: WorldPool;
  readonly tokens: Pair;
  readonly listing: Listing;
  /** Stands before the chain's only node. */
  readonly node: RpcProxy;
  /** Moves the feed of the first pool. */
  readonly movePrice: (price: number) => Promise<void>;
  /** Buys so many whole WETH from the first pool. */
  readonly buy: (whole: bigint) => Promise<void>;
  readonly stop: () => Promise<void>;
};

const lagOf = (chainId: number, name: string, change: Partial<ChainLag> = {}): ChainLag => ({
  ...{ chainId, name, indexedBlock: 1_000, indexedTimestamp: NOW, headBlock: 1_001, lagBlocks: 1, lagSecs: 1 },
  ...{ stalled: false, ...change },
});

/** @param pools false: the listing stays empty */
export async function startExplorerWorld({ pools: hasPools = true } = {}): Promise<ExplorerWorld> {
  const [world, listing] = await Promise.all([startQuoteWorld(CHAIN_A), openListing()]);
  const node = await startRpcProxy(world.anvil.url, false);
  const [tokens, odd] = [await world.pair(18, 6), await world.pair(18, 6)];
  const make = (pair: Pair, price: number, shares: bigint) =>
    makePool(world, {
      pair,
      price,
      bins: evenBins(-8, 8, 1_000),
      shares: evenShares(-8, 8, shares),
      notionalFeeE8: 3_000,
    });
  const first = await make(tokens, 3_000, SHARES_OF_ONE * 6n);
  const second = await make(tokens, 3_001, SHARES_OF_ONE * 2n);
  const hostile = await make(odd, 25, SHARES_OF_ONE);
  const served = async (pool: WorldPool, symbols: readonly [string, string]) => {
    const known = await servedPool(world.chain, world.deployment, pool.address);
    const token = (index: 0 | 1) => ({
      address: known[`token${index}`].address,
      symbol: symbols[index],
      decimals: index ? 6 : 18,
    });
    return { ...known, pair: symbols.join('/'), token0: token(0), token1: token(1) };
  };
  const directory = fixedDirectory([
    await served(first, ['WETH', 'USDC']),
    await served(second, ['WETH', 'USDC']),
    await served(hostile, [HOSTILE_SYMBOL, 'USDX']),
  ]);
  if (hasPools)
    await seedMarket(listing, { pools: [first.address, second.address], hostile: hostile.address, tokens, odd });
  const deployments = CHAINS_FILE.chains[0]?.deployments ?? [];
  const chains = [
    chainConfig(CHAIN_A, [node.url], { name: 'devnet-a', explorerUrl: 'https://explorer.example', deployments }),
    chainConfig(CHAIN_B, ['http://127.0.0.1:1'], { name: 'Devnet-B', deployments }),
  ];
  const logger = createLogger('test', 'silent');
  const app = createApp(
    bindResources({
      chains: new Map(chains.map((chain) => [chain.chainId, chain])),
      ...{ directory, database: listing.pool, statusMaxAgeSecs: 86_400, routing: RoutingConfig.parse({}) },
      snapshots: createSnapshotService({ chains, quotes: eagerQuotes, countCall: () => undefined, logger }),
      ...{ outlooks: new PoolOutlooks(), endpoints: new Map() },
      submit: () => Promise.reject(new Error('not for this test')),
      lags: () => [
        lagOf(CHAIN_A, 'devnet-a'),
        lagOf(CHAIN_B, 'Devnet-B', { stalled: true, headBlock: null, lagBlocks: null }),
      ],
    }),
    {
      verifyKey: async () => null,
      rateLimit: {
        limits: LimitsConfig.parse({ enabled: false }),
        // Limits are off: it never connects.
        redis: new Redis(inject('redisUrl'), { lazyConnect: true }),
        ...{ prefix: 'test', trustedProxies: 0 },
      },
      metrics: createMetrics('test'),
      logger,
      pages: await pagesOf(),
    },
  );
  const server = await startServer(app, '127.0.0.1', 0);
  return {
    url: `http://127.0.0.1:${server.port}`,
    ...{ pools: [first, second], hostile, tokens, listing, node },
    movePrice: (price) => movePrice(world, first, price),
    buy: async (whole) => {
      const amountSpecified = -whole * 10n ** 18n;
      await sendSwap(world.chain, world.deployment, { pool: first.address, zeroForOne: false, amountSpecified });
    },
    stop: async () => {
      await server.stop(100);
      await Promise.all([node.stop(), listing.close(), world.stop()]);
    },
  };
}

async function pagesOf(): Promise<NonNullable<Parameters<typeof createApp>[1]['pages']>> {
  const files = await readPageFiles({ name: 'Pools & more', logo: undefined });
  return (app) => mountExplorer(app, files);
}
