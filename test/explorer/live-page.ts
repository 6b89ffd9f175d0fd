import type { LivePool } from '../../devnet/live/live-pools.ts';
import { seedPools, seedToken } from '../harness/seed-pools.ts';
import { type LiveWorld, startLiveWorld } from '../live/live-world.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../metadata/listing-fixture.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { serveExplorer } from './serve-explorer.ts';

/** The web page over pools whose prices live with a builder. */
export interface LivePage {
  readonly url: string;
  readonly world: LiveWorld;
  readonly pool: LivePool;
  stop(): Promise<void>;
}

const E18 = 10n ** 18n;

export async function startLivePage(): Promise<LivePage> {
  const [world, listing] = await Promise.all([startLiveWorld({ flatPools: 1, packedPools: 0 }), openListing()]);
  const [pool] = world.market.pools;
  if (!pool) throw new Error('the market has no pool');
  await list(listing, pool);
  const { deployments = [] } = CHAINS_FILE.chains[0] ?? {};
  const config = { ...world.config, name: 'devnet-a', deployments };
  const served = await serveExplorer({ configs: [config], directory: fixedDirectory(world.served), listing, lags: [] });
  return {
    url: served.url,
    world,
    pool,
    stop: async () => {
      await served.stop();
      await Promise.all([listing.close(), world.stop()]);
    },
  };
}

async function list({ db, pool: database, refresh }: Listing, { address, token0, token1 }: LivePool): Promise<void> {
  for (const [token, symbol] of [
    [token0, 'ZERO'],
    [token1, 'ONE'],
  ] as const) {
    await seedToken(db, { chainId: CHAIN_A, address: token, symbol, name: symbol });
    await database.query(`INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now())`, [CHAIN_A, token]);
  }
  const state = { total0Scaled: 1_000n * E18, total1Scaled: 1_000n * E18 };
  await seedPools(db, [{ pool: { chainId: CHAIN_A, address, token0, token1 }, state }]);
  await refresh();
}
