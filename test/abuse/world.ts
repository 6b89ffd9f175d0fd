import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Address } from 'viem';
import { LIMIT_CLASSES } from '../../config/limits-schema.ts';
import { issueApiKey, revokeApiKey } from '../../db/api-keys.ts';
import { migrate } from '../../db/migrate.ts';
import { addLiquidity, fundAccounts } from '../../devnet/actions.ts';
import { deployPackedProtocol, type PackedDeployment } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool, evenBins } from '../../devnet/pools.ts';
import { packedQuote } from '../../devnet/scenario/packed-pools.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { createDatabase } from '../harness/database.ts';
import { createOnchainTables, setIndexedBlock } from '../harness/onchain-tables.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { openSeeder, seedPools, seedToken } from '../harness/seed-pools.ts';
import { eventually } from '../pamm/eventually.ts';
import {
  evenShares,
  makePool,
  type Pair,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  stillQuotes,
} from '../quotes/quote-world.ts';
import { servedPool } from '../quotes/served-pool.ts';
import { type AbusedApi, startAbusedApi } from './api.ts';

/** The one chain with pools; 1 and 56 take quote updates, of which 1 has no builder. */
export const CHAIN = 31337;
export const CHAIN_WITHOUT_BUILDERS = 1;
/** For chains without pools, which are never read: nothing listens there. */
const NO_NODE = 'http://127.0.0.1:1';

/** So low that one client that never stops is sure to be held up, however slow the machine. */
const LIMITS = {
  anonymous: { requests: 10, windowSecs: 60 },
  keyed: { requests: 100_000, windowSecs: 60 },
};

/** The API process on a database, a Redis and a chain with pools, all real. */
export interface AbuseWorld {
  readonly api: AbusedApi;
  readonly key: string;
  readonly revokedKey: string;
  readonly pools: readonly Address[];
  readonly tokens: readonly Address[];
  readonly database: pg.Pool;
  /** Texts that no answer may hold: where the API's own services are, and where its files lie. */
  readonly secrets: readonly string[];
  stop(): Promise<void>;
}

export async function startAbuseWorld(): Promise<AbuseWorld> {
  const [world, database, redis, folder] = await Promise.all([
    startQuoteWorld(CHAIN),
    createDatabase(),
    createRedisDatabase('pamm'),
    createTempFolder('abuse'),
  ]);
  const client = new pg.Pool({ connectionString: database.url, max: 2 });
  client.on('error', () => undefined); // Dropping the database ends its sessions.
  await migrate(database.url);
  await createOnchainTables(client);
  const market = await createMarket(world);
  await seedMarket(world, database.url, client, market);
  const { key } = await issueApiKey(client, 'abuse');
  const { key: revokedKey, keyId } = await issueApiKey(client, 'revoked');
  await revokeApiKey(client, keyId);

  const chainsFile = join(folder.path, 'chains.json');
  await writeFile(chainsFile, JSON.stringify(chainsConfig(world, market)));
  const env = { CHAINS_CONFIG: chainsFile, DATABASE_URL: database.url, REDIS_URL: redis.url, PAMM_SIMULATION: 'off' };
  await list(env, client);
  const api = await startAbusedApi(env);
  return {
    api,
    key,
    revokedKey,
    pools: market.pools,
    tokens: market.tokens,
    database: client,
    secrets: [...[database.url, redis.url, world.anvil.url].map((url) => new URL(url).host), PROJECT_ROOT],
    stop: async () => {
      await api.stop();
      await client.end();
      await Promise.all([world.stop(), database.drop(), redis.drop(), folder.remove()]);
    },
  };
}

interface Market {
  /** The last one is of the packed generation. */
  readonly pools: readonly Address[];
  readonly packed: PackedDeployment;
  readonly tokens: readonly Address[];
}

/** Four pools over four tokens, so that there are direct routes and routes of one hop. */
async function createMarket(world: QuoteWorld): Promise<Market> {
  const [first, second] = [await world.pair(6, 18), await world.pair(18, 6)];
  const between: Pair = { token0: first.token1, token1: second.token0, decimals0: 18, decimals1: 18 };
  const pools: Address[] = [];
  for (const pair of [first, second, between]) {
    const spec = { pair, price: 0.5, bins: evenBins(-4, 4, 1_000), shares: evenShares(-4, 4, SHARES_OF_ONE) };
    pools.push((await makePool(world, spec)).address);
  }
  const packed = await deployPackedProtocol(world.chain, packedVariant('quotient'));
  pools.push(await makePackedPool(world, packed, first));
  return { pools, packed, tokens: [first.token0, first.token1, second.token0, second.token1] };
}

async function makePackedPool({ chain }: QuoteWorld, packed: PackedDeployment, pair: Pair): Promise<Address> {
  const owner = chain.roles.provider;
  for (const token of [pair.token0, pair.token1]) {
    await fundAccounts(chain, packed, token, { accounts: [owner], amount: 10n ** 30n });
  }
  const quote = packedQuote(Q64, 2n * Q64);
  const [bins, shares] = [evenBins(-4, 4, 1_000), SHARES_OF_ONE];
  const pool = await createPool(chain, packed, {
    token0: pair.token0,
    token1: pair.token1,
    bins,
    priceProvider: await deployQuoteProvider(chain, packed, pair, quote),
    initialAmount0PerShareE18: 10n ** 18n,
    initialAmount1PerShareE18: 10n ** 18n / 2n,
  });
  await addLiquidity(chain, packed, { pool, owner, bins: bins.map(({ bin }) => ({ bin, shares })) });
  return pool;
}

/** Writes what the indexer would have written of the market. */
async function seedMarket(world: QuoteWorld, url: string, client: pg.Pool, market: Market): Promise<void> {
  const { pools, tokens, packed } = market;
  const seeder = openSeeder(url);
  for (const address of tokens) await seedToken(seeder.db, { chainId: CHAIN, address });
  const served = await Promise.all(pools.map((pool) => servedPool(world.chain, world.deployment, pool)));
  const factoryOf = (pool: Address) => (pool === pools.at(-1) ? packed : world.deployment).poolFactory;
  await seedPools(
    seeder.db,
    served.map(({ address, token0, token1, immutables: { scale, lowestBin, highestBin }, immutableProvider }) => ({
      pool: {
        chainId: CHAIN,
        address,
        factory: factoryOf(address),
        token0: token0.address,
        token1: token1.address,
        lowestBin,
        highestBin,
        token0ScaleMultiplier: scale.multiplier0,
        token1ScaleMultiplier: scale.multiplier1,
        ...(immutableProvider === null ? {} : { priceProvider: immutableProvider }),
      },
      state: { total0Scaled: 10n ** 21n, total1Scaled: 10n ** 21n },
    })),
  );
  await seeder.end();
  const { number, timestamp } = await world.chain.client.getBlock();
  await setIndexedBlock(client, { chainId: CHAIN, number: Number(number), timestamp: Number(timestamp) });
}

/** Runs the capture process until it has listed the pools; after that nothing writes to the database any more. */
async function list(env: Readonly<Record<string, string>>, client: pg.Pool): Promise<void> {
  const main = 'capture';
  const settings = { ...env, PORT: undefined };
  const capture = await startOwnProcess({ main, env: settings, ready: /running/, startTimeoutMs: 90_000 });
  const isListed = async () => (await client.query('SELECT FROM operator.pool_listing')).rowCount === 4;
  await eventually(isListed, 60_000).finally(capture.stop);
}

/** No worker empties the builders' queues: an update is accepted into them, and reported as pending. */
function chainsConfig({ anvil, deployment }: QuoteWorld, { tokens, packed }: Market) {
  const chain = (chainId: number, extra: object) => ({
    chainId,
    name: `chain-${chainId}`,
    rpcUrls: [NO_NODE],
    blockTimeMs: 1_000,
    deployments: [],
    ...extra,
  });
  const builder = { id: 'builder', transport: 'quote-stream', url: 'ws://builder.example/stream' };
  const entry = (layout: string, { poolFactory }: Pick<PackedDeployment, 'poolFactory'>) => ({
    contractVersion: 'v1',
    layout,
    fromBlock: 0,
    poolFactory,
  });
  const deployments = [entry('flat', deployment), entry('packed', packed)];
  return {
    chains: [
      chain(CHAIN, {
        rpcUrls: [anvil.url],
        multicall3: deployment.multicall3,
        deployments,
        pamm: { kind: 'ethereum', builders: [builder] },
      }),
      chain(56, { pamm: { kind: 'bsc', builders: [builder] } }),
      chain(CHAIN_WITHOUT_BUILDERS, {}),
      chain(8453, {}),
    ],
    quotes: stillQuotes,
    limits: Object.fromEntries(LIMIT_CLASSES.map((name) => [name, LIMITS])),
    fiatPrices: { source: 'static', prices: Object.fromEntries(tokens.map((token) => [`${CHAIN}:${token}`, 2])) },
  };
}
