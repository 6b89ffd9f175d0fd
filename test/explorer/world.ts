import { toHex } from 'viem';
import type { ChainLag } from '../../api/observability/chain-lag.ts';
import { sendSwap } from '../../devnet/actions.ts';
import { evenBins } from '../../devnet/pools.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { CHAIN_A, CHAIN_B, CHAINS_FILE, type Listing, NOW, openListing } from '../metadata/listing-fixture.ts';
import {
  chainConfig,
  evenShares,
  makePool,
  movePrice,
  type Pair,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { BINS, MARKET, type MarketPool, seedMarket } from './seed-market.ts';
import { serveExplorer } from './serve-explorer.ts';

/** The service in this process over a still chain, with its web page. Nothing moves unless the test moves it. */
export type ExplorerWorld = {
  readonly url: string;
  /** Of WETH and USDC at 3000; the first is the larger. */
  readonly pools: readonly [LivePool, LivePool];
  readonly hostile: LivePool;
  readonly tokens: Pair;
  readonly listing: Listing;
  /** Stands before the chain's only node. */
  readonly node: RpcProxy;
  /** A block without transactions: prices are as old as the newest block. */
  readonly mine: () => Promise<void>;
  /** Moves the feed of the first pool. */
  readonly movePrice: (price: number) => Promise<void>;
  /** Buys this many whole WETH from the first pool. */
  readonly buy: (whole: bigint) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Its first index is being filled. */
const CHAIN_C = 31_339;

const lagOf = (chainId: number, name: string, change: Partial<ChainLag> = {}): ChainLag => ({
  chainId,
  name,
  indexedBlock: 1_000,
  indexedTimestamp: NOW,
  finalityBlocks: 30,
  finalitySecs: 30,
  firstSync: null,
  headBlock: 1_001,
  lagBlocks: 1,
  lagSecs: 1,
  stalled: false,
  ...change,
});

export async function startExplorerWorld(): Promise<ExplorerWorld> {
  const [world, listing] = await Promise.all([startQuoteWorld(CHAIN_A), openListing()]);
  const node = await startRpcProxy(world.anvil.url, false);
  const pools = await makeMarket(world);
  await seedMarket(listing, pools);
  const directory = fixedDirectory(await Promise.all(pools.map((pool) => servedAs(world, pool))));
  const deployments = CHAINS_FILE.chains[0]?.deployments ?? [];
  const configs = [
    chainConfig(CHAIN_A, [node.url], { name: 'devnet-a', explorerUrl: 'https://explorer.example', deployments }),
    chainConfig(CHAIN_B, ['http://127.0.0.1:1'], { name: 'Devnet-B', deployments }),
  ];
  const served = await serveExplorer({
    configs,
    directory,
    listing,
    lags: [
      lagOf(CHAIN_A, 'devnet-a'),
      lagOf(CHAIN_B, 'Devnet-B', { stalled: true, headBlock: null, lagBlocks: null }),
      lagOf(CHAIN_C, 'devnet-c', {
        stalled: true,
        headBlock: 1_100,
        indexedBlock: null,
        indexedTimestamp: null,
        lagBlocks: null,
        lagSecs: null,
        firstSync: { fromBlock: 100, blockNumber: 530, logs: 1_234 },
      }),
    ],
  });
  const [first, second, hostile] = pools;
  if (!first || !second || !hostile) throw new Error('the market has too few pools');
  return {
    url: served.url,
    pools: [first, second],
    hostile,
    tokens: first.tokens,
    listing,
    node,
    mine: () => world.chain.client.mine({ blocks: 1 }),
    movePrice: (price) => movePrice(world, first, price),
    buy: async (whole) => {
      const amountSpecified = -whole * 10n ** 18n;
      await sendSwap(world.chain, world.deployment, { pool: first.address, zeroForOne: false, amountSpecified });
    },
    stop: async () => {
      await served.stop();
      await Promise.all([node.stop(), listing.close(), world.stop()]);
    },
  };
}

type LivePool = MarketPool & WorldPool;

async function makeMarket(world: QuoteWorld): Promise<readonly LivePool[]> {
  const pairs = new Map<number, Pair>();
  const pools: LivePool[] = [];
  for (const plan of MARKET) {
    const tokens = pairs.get(plan.pair) ?? (await world.pair(18, 6));
    pairs.set(plan.pair, tokens);
    const shares = evenShares(-BINS, BINS, SHARES_OF_ONE * plan.perBin);
    // The same addresses in each run, for pictures of them.
    const salt = toHex(pools.length + 1, { size: 32 });
    const bins = evenBins(-BINS, BINS, 1_000);
    const spec = { pair: tokens, price: plan.price, bins, shares, notionalFeeE8: 3_000, salt };
    pools.push({ ...plan, tokens, ...(await makePool(world, spec)) });
  }
  return pools;
}

/** What the directory would know of a pool. */
async function servedAs({ chain, deployment }: QuoteWorld, { address, symbols }: LivePool): Promise<ServedPool> {
  const known = await servedPool(chain, deployment, address);
  return {
    ...known,
    pair: symbols.join('/'),
    token0: { address: known.token0.address, symbol: symbols[0], decimals: 18 },
    token1: { address: known.token1.address, symbol: symbols[1], decimals: 6 },
  };
}
