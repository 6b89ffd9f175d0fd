import pg from 'pg';
import type { z } from 'zod';
import { captureJobs } from '../../capture/capture-jobs.ts';
import { ChainsFile, DeploymentConfig } from '../../config/chains-schema.ts';
import type { LiveConfig } from '../../config/live-schema.ts';
import type { LiveMarketOptions } from '../../devnet/live/live-market.fixture.ts';
import { ONE } from '../../devnet/live/live-pools.ts';
import { poolExtension } from '../../indexer/ponder.schema.ts';
import type { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createIndexedDatabase, type IndexedDatabase } from '../harness/indexed-database.ts';
import { setIndexedBlock } from '../harness/onchain-tables.ts';
import { openSeeder, seedPools, seedToken } from '../harness/seed-pools.ts';
import { type listingReader, readListing } from '../metadata/listing-reader.ts';
import { eventually } from '../pamm/eventually.ts';
import { type LiveWorld, startLiveWorld } from './live-world.ts';

/** A live market whose pools capture reads: indexed, funded, and with the builder as their source. */
export interface CapturedWorld extends LiveWorld {
  readonly database: pg.Pool;
  readonly databaseUrl: string;
  readonly file: ChainsFile;
  readonly listing: ReturnType<typeof listingReader>;
  /** Runs all jobs until the prices of all pools are of the committed head. */
  capture(): Promise<void>;
  /** Another capture over the same database. */
  openCapture(options?: CaptureOptions): Capture;
}

export interface CaptureOptions {
  /** Default: those of the world. */
  readonly live?: z.input<typeof LiveConfig> | null;
  readonly callsPerMinute?: number;
  /** Default: the node of the market. */
  readonly rpcUrls?: readonly string[];
  /** Takes live words of other processes. Default: it reads sources by itself. */
  readonly sharing?: ReadSharing;
}

export interface Capture {
  readonly file: ChainsFile;
  /** Requests to nodes so far, by method. */
  readonly calls: readonly string[];
  /** Runs once all jobs whose names begin with these, in their order. */
  run(names?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Guards come before prices, which show what they close. */
const JOBS = ['calibration', 'guards', 'transfers', 'pool-storage', 'price-health', 'quote-history', 'listing'];
const FUNDS = 100n * ONE;

/** @param live gives the sources of the chain; null: it has none */
export async function startCapturedWorld(
  options: LiveMarketOptions,
  live: (world: LiveWorld) => z.input<typeof LiveConfig> | null = ({ config }) => config.live ?? null,
): Promise<CapturedWorld> {
  const [world, indexed] = await Promise.all([startLiveWorld(options), createIndexedDatabase()]);
  await seedMarket(world, indexed);
  const { market, config } = world;
  const database = new pg.Pool({ connectionString: indexed.url, max: 4 });
  database.on('error', () => undefined);
  const captures: Capture[] = [];
  const openCapture: CapturedWorld['openCapture'] = (change = {}) => {
    const opened = openJobs(database, world, { live: live(world), ...change });
    captures.push(opened);
    return opened;
  };
  const { file, run } = openCapture();
  const areOfHead = async (number: bigint) => {
    const { rows } = await database.query('SELECT FROM operator.price_health WHERE block_number = $1', [
      String(number),
    ]);
    return rows.length === market.pools.length;
  };
  return {
    ...world,
    database,
    databaseUrl: indexed.url,
    file,
    listing: readListing(database, file),
    async capture() {
      const { number, timestamp } = await market.chain.client.getBlock();
      const block = { number: Number(number), timestamp: Number(timestamp) };
      await setIndexedBlock(database, { chainId: config.chainId, ...block });
      const readsHead = async () => {
        await run();
        return areOfHead(number);
      };
      // Heads are taken half a second apart.
      await eventually(readsHead, 60_000);
    },
    openCapture,
    async stop() {
      await Promise.all(captures.map((opened) => opened.stop()));
      await database.end();
      await Promise.all([world.stop(), indexed.drop()]);
    },
  };
}

function openJobs(
  database: pg.Pool,
  world: LiveWorld,
  {
    live,
    callsPerMinute = 10_000,
    rpcUrls = world.config.rpcUrls,
    sharing,
  }: CaptureOptions & Pick<Required<CaptureOptions>, 'live'>,
): Capture {
  const { live: _, ...chain } = world.config;
  const deployments = [deploymentOf(world, 'flat'), deploymentOf(world, 'packed')];
  const file = ChainsFile.parse({
    chains: [{ ...chain, rpcUrls, ...(live && { live }), deployments, readBudget: { callsPerMinute } }],
    quotes: { maxAgeMs: 86_400_000 },
  });
  const stops: (() => unknown)[] = [];
  const calls: string[] = [];
  const jobs = captureJobs({
    file,
    database,
    fiatMaxAgeSecs: 900,
    statusMaxAgeSecs: 600,
    llamaUrl: 'http://127.0.0.1:1',
    countCall: (_chainId, method) => calls.push(method),
    sharing,
    onStop: (_name, stop) => stops.push(stop),
    logger: createLogger('test', 'silent'),
  });
  return {
    file,
    calls,
    async run(names = JOBS) {
      for (const name of names) for (const job of jobs) if (job.name.startsWith(name)) await job.run();
    },
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

function deploymentOf({ market: { deployment, packed } }: LiveWorld, layout: 'flat' | 'packed') {
  const { poolFactory, stopLoss, priceVelocityGuard } = layout === 'flat' ? deployment : packed;
  const release = layout === 'flat' ? 'v1' : 'v2';
  const guards = { stopLoss, priceVelocityGuard };
  return DeploymentConfig.parse({ contractVersion: release, layout, fromBlock: 0, poolFactory, ...guards });
}

/** Says of the pools that they are indexed, and hold priced tokens. */
async function seedMarket(
  { market, served, config: { chainId } }: LiveWorld,
  { url, client }: IndexedDatabase,
): Promise<void> {
  const { token0, token1, pools, deployment, packed } = market;
  const seeder = openSeeder(url);
  for (const address of [token0, token1]) {
    await seedToken(seeder.db, { chainId, address, decimals: 18 });
    await client.query(`INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now())`, [chainId, address]);
  }
  for (const { address, layout, provider } of pools) {
    const own = layout === 'flat' ? deployment : packed;
    const pool = { chainId, address, token0, token1, factory: own.poolFactory, priceProvider: provider };
    await seedPools(seeder.db, [{ pool, state: { balance0Raw: FUNDS, balance1Raw: FUNDS } }]);
    const extensions = served.find((each) => each.address === address)?.extensions ?? [];
    for (const [index, extension] of extensions.entries()) {
      const stamp = { blockNumber: 1, blockTimestamp: 1 };
      const row = { address: extension.address, phases: [...extension.phases], ...stamp };
      await seeder.db.insert(poolExtension).values({ chainId, pool: address, position: index + 1, ...row });
    }
  }
  await seeder.end();
}
