import { Hono } from 'hono';
import pg from 'pg';
import type { Address } from 'viem';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../../api/errors.ts';
import { metadataResource } from '../../api/metadata/metadata.ts';
import type { PoolTier } from '../../capture/listing/record.ts';
import { type RefreshDeps, refreshListing } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import { mountHandlers } from '../harness/mount-handlers.ts';
import { createOnchainTables, setIndexedBlock } from '../harness/onchain-tables.ts';
import { FACTORY, openSeeder, seedAddress } from '../harness/seed-pools.ts';
import { listingReader } from './listing-reader.ts';

export const CHAIN_A = 31337;
export const CHAIN_B = 31338;
export const NOW = 1_795_000_000;

const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY };

/** Its pools have a router. */
export const ROUTED_FACTORY = seedAddress(0xfb);

/** Two chains, one with a second release that is switched off. */
export const CHAINS_FILE = parseChainsFile(
  {
    chains: [
      {
        chainId: CHAIN_A,
        name: 'devnet-a',
        rpcUrls: ['http://127.0.0.1:1'],
        blockTimeMs: 1000,
        deployments: [
          {
            ...deployment,
            poolDeployer: seedAddress(0xde),
            stopLoss: seedAddress(0x51),
            priceVelocityGuard: seedAddress(0x52),
            depositAllowlist: seedAddress(0x53),
          },
          { ...deployment, poolFactory: ROUTED_FACTORY, router: seedAddress(0xa0) },
          { ...deployment, contractVersion: 'v0', enabled: false, layout: 'old', poolFactory: seedAddress(0xf0) },
        ],
      },
      {
        chainId: CHAIN_B,
        name: 'Devnet-B',
        rpcUrls: ['http://127.0.0.1:1'],
        blockTimeMs: 1000,
        deployments: [deployment],
      },
    ],
  },
  'test',
);

/** A database with the indexer's tables, a refresh of the listing, and the API's listing over it. */
export async function openListing() {
  const database = await createMigratedDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  // Dropping the database ends its sessions.
  pool.on('error', () => undefined);
  await createOnchainTables(pool);
  for (const chainId of [CHAIN_A, CHAIN_B]) await setIndexedBlock(pool, { chainId, number: 1000, timestamp: NOW });
  const seeder = openSeeder(database.url);
  const app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  mountHandlers(
    app,
    bindRoutes(metadataResource, { chains, database: pool, statusMaxAgeSecs: 60, now: () => performance.now() }),
  );
  /** Tests give tiers as they need them. */
  const tiers = new Map<Address, PoolTier>();
  const refreshDeps: RefreshDeps = {
    database: pool,
    registry: createRegistry(CHAINS_FILE),
    findBlockAt: async (timestamp, indexed) => indexed.number - (indexed.timestamp - timestamp),
    fiatMaxAgeSecs: 600,
    version: 'test',
    classify: ({ address }) => tiers.get(address) ?? null,
    wallClock: () => Date.now(),
  };
  return {
    url: database.url,
    pool,
    db: seeder.db,
    app,
    refreshDeps,
    tiers,
    refresh: () => refreshListing(refreshDeps),
    ...listingReader(inProcessClient(app)),
    close: async () => {
      await seeder.end();
      await pool.end();
      await database.drop();
    },
  };
}

export type Listing = Awaited<ReturnType<typeof openListing>>;
