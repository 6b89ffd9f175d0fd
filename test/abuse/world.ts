import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Address } from 'viem';
import { LIMIT_CLASSES } from '../../config/limits-schema.ts';
import { issueApiKey, revokeApiKey } from '../../db/api-keys.ts';
import type { PackedDeployment } from '../../devnet/packed/deploy.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { createOnchainTables } from '../harness/onchain-tables.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { eventually } from '../pamm/eventually.ts';
import { type QuoteWorld, startQuoteWorld, stillQuotes } from '../quotes/quote-world.ts';
import { type AbusedApi, startAbusedApi } from './api.ts';
import { createMarket, type Market, seedMarket } from './market.ts';

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
  // What is open ends, the last one first, also where something after it does not start.
  await using opened = new AsyncDisposableStack();
  const world = opened.adopt(await startQuoteWorld(CHAIN), ({ stop }) => stop());
  const database = opened.adopt(await createMigratedDatabase(), ({ drop }) => drop());
  const redis = opened.adopt(await createRedisDatabase('pamm'), ({ drop }) => drop());
  const folder = opened.adopt(await createTempFolder('abuse'), ({ remove }) => remove());
  const client = opened.adopt(new pg.Pool({ connectionString: database.url, max: 2 }), (pool) => pool.end());
  client.on('error', () => undefined); // Dropping the database ends its sessions.
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
  const api = opened.adopt(await startAbusedApi(env), ({ stop }) => stop());
  const ends = opened.move();
  return {
    api,
    key,
    revokedKey,
    pools: market.pools,
    tokens: market.tokens,
    database: client,
    secrets: [...[database.url, redis.url, world.anvil.url].map((url) => new URL(url).host), PROJECT_ROOT],
    stop: () => ends.disposeAsync(),
  };
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
