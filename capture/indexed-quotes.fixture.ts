import pg from 'pg';
import { openChainRpc } from '../chain/chain-rpc.ts';
import { CallBudget } from '../chain/read-schedule/call-budget.ts';
import { type ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { actAs } from '../db/process-roles.ts';
import { poolExtension } from '../indexer/ponder.schema.ts';
import { migratedDatabase } from '../test/harness/migrated-database.ts';
import { createOnchainTables } from '../test/harness/onchain-tables.ts';
import { openWorld } from '../test/harness/open-world.ts';
import { FACTORY, openSeeder, seedPools, seedToken } from '../test/harness/seed-pools.ts';
import { chainConfig, type Pair, type QuoteWorld, type WorldPool } from '../test/quotes/quote-world.ts';
import { servedPool } from '../test/quotes/served-pool.ts';
import { createPriceCapture, type PriceCaptureDeps } from './price-health/capture-prices.ts';
import { CAPTURE_CLASSES, readPoolValues } from './read-schedule/pool-values.ts';

const CHAIN = 31_337;

interface IndexedOptions<P extends readonly Pair[]> {
  /** The node that capture reads. */
  readonly rpcUrl: () => string;
  readonly pairs: () => Promise<P>;
  readonly change?: () => Partial<ChainConfig>;
}

/** An index of pools of a world, as capture knows it. The first token of each pair costs a dollar. */
export function indexedQuotes<P extends readonly Pair[]>(
  world: Pick<QuoteWorld, 'chain' | 'deployment'>,
  { rpcUrl, pairs: makePairs, change = () => ({}) }: IndexedOptions<P>,
) {
  const home = migratedDatabase();
  const seeder = openWorld(async (ends) => ends.adopt(openSeeder(home.url), (opened) => opened.end()));
  /** `database`: with the rights of the process alone. */
  const own = openWorld(async (ends) => {
    const pairs = await makePairs();
    await createOnchainTables(home.pool);
    for (const { token0, token1, decimals0, decimals1 } of pairs) {
      await seedToken(seeder.db, { chainId: CHAIN, address: token0, decimals: decimals0 });
      await seedToken(seeder.db, { chainId: CHAIN, address: token1, decimals: decimals1 });
      await home.pool.query("INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now())", [CHAIN, token0]);
    }
    const database = new pg.Pool({ connectionString: actAs(home.url, 'ptd_capture'), max: 2 });
    ends.defer(() => database.end());
    const { stopLoss } = world.deployment;
    const release = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY, stopLoss };
    const config: ChainConfig = chainConfig(CHAIN, [rpcUrl()], {
      deployments: [DeploymentConfig.parse(release)],
      ...change(),
    });
    return { pairs, database, config };
  });
  const pools = () => readPoolValues(own.database, own.config);
  return {
    home,
    own,
    pools,
    /** Indexes a pool, which is worth this much. */
    async index(
      { address }: Pick<WorldPool, 'address'>,
      { token0, token1 }: Pair,
      balance0Raw = 10n ** 30n,
    ): Promise<void> {
      const { immutables, extensions } = await servedPool(world.chain, world.deployment, address);
      const { lowestBin, highestBin, scale } = immutables;
      const scales = { token0ScaleMultiplier: scale.multiplier0, token1ScaleMultiplier: scale.multiplier1 };
      const row = { chainId: CHAIN, address, factory: FACTORY, token0, token1, lowestBin, highestBin, ...scales };
      await seedPools(seeder.db, [{ pool: row, state: { balance0Raw } }]);
      for (const [position, { address: extension, phases }] of extensions.entries()) {
        const place = { chainId: CHAIN, pool: address, position, blockNumber: 1, blockTimestamp: 1 };
        await seeder.db.insert(poolExtension).values({ ...place, address: extension, phases: [...phases] });
      }
    },
    /** Reads the prices of all pools as capture does. */
    async readPrices(live?: PriceCaptureDeps['live']): Promise<void> {
      const rpc = openChainRpc(own.config, 5_000);
      const capture = createPriceCapture({
        chainId: CHAIN,
        budget: new CallBudget(1_000, CAPTURE_CLASSES, () => 0),
        rpcs: { funded: rpc, remaining: rpc },
        now: () => performance.now(),
        database: own.database,
        pools,
        closed: [],
        live,
        logUnknown: () => undefined,
      });
      await capture('funded');
    },
  };
}
