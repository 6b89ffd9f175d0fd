import fc from 'fast-check';
import pg from 'pg';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { serveSchema } from '../../indexer/publication/live-views.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMigratedDatabase } from '../../test/harness/database.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import {
  FACTORY,
  openSeeder,
  type Seeder,
  seedAddress,
  seedPools,
  seedToken,
  TOKEN0,
  TOKEN1,
} from '../../test/harness/seed-pools.ts';
import type { PoolReport } from './chain-catalog.ts';
import { PoolCatalog } from './pool-catalog.ts';
import type { ServedPool } from './pool-directory.ts';

const INDEXES = ['onchain_1', 'onchain_2'] as const;
const CHAINS = [7, 9] as const;
const deployments = [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY }];
const { chains } = parseChainsFile(
  {
    chains: CHAINS.map((chainId) => ({
      chainId,
      name: `chain-${chainId}`,
      rpcUrls: ['http://127.0.0.1:1'],
      blockTimeMs: 1_000,
      deployments,
    })),
  },
  'test',
);
const logger = createLogger('test', 'silent');
const POLL_MS = 5;
/** Blocks that an index may undo. */
const UNDOABLE = 480;
/** By index and chain. */
const heads = new Map<string, number>();

const home = startedWorld(createMigratedDatabase);
let database: Database;
let other: Database;
let indexer: Database;
let client: pg.Client;
let seeders: readonly Seeder[];
let followed: Followed;

beforeAll(async () => {
  client = new pg.Client({ connectionString: home.url });
  await client.connect();
  for (const schema of INDEXES) await createOnchainTables(client, schema);
  seeders = INDEXES.map((schema) => openSeeder(home.url, schema));
  for (const { db } of seeders) {
    for (const chainId of CHAINS) for (const address of [TOKEN0, TOKEN1]) await seedToken(db, { chainId, address });
  }
  database = openDatabase(`${home.url}?application_name=directory`, 'ptd_api', logger);
  other = openDatabase(home.url, 'ptd_api', logger);
  indexer = openDatabase(home.url, 'ptd_indexer', logger, { max: 1 });
  followed = follow(database, POLL_MS);
});

afterAll(async () => {
  followed.catalog.stop();
  await Promise.all([
    client.end(),
    ...[database, other, indexer].map(({ $client }) => $client.end()),
    ...seeders.map(({ end }) => end()),
  ]);
});

/** A catalog, and the reports that it gave of the pools that it serves. */
interface Followed {
  readonly catalog: PoolCatalog;
  readonly reports: Map<ServedPool, PoolReport>;
}

function follow(from: Database, pollMs?: number): Followed {
  const reports = new Map<ServedPool, PoolReport>();
  const catalog = new PoolCatalog({
    database: from,
    chains,
    logger,
    ...(pollMs && { pollMs }),
    now: () => performance.now(),
  });
  catalog.onReport((pool: ServedPool, report: PoolReport | null) =>
    report ? reports.set(pool, report) : reports.delete(pool),
  );
  return { reports, catalog };
}

/** Where a change happens: in one of the two indexes, to one of the pools that there may be. */
interface Place {
  readonly schema: (typeof INDEXES)[number];
  readonly chainId: number;
  readonly pool: Address;
  /** Any small number. */
  readonly number: number;
}

const place: fc.Arbitrary<Place> = fc.record({
  schema: fc.constantFrom(...INDEXES),
  chainId: fc.constantFrom(...CHAINS),
  pool: fc.integer({ min: 1, max: 12 }).map((number) => seedAddress(0x1000 + number)),
  number: fc.nat(300),
});

const headOf = ({ schema, chainId }: Place) => heads.get(`${schema}:${chainId}`) ?? 0;

const CHANGES = {
  advance: async (at: Place) => {
    const number = headOf(at) + at.number;
    heads.set(`${at.schema}:${at.chainId}`, number);
    await setIndexedBlock(client, { chainId: at.chainId, number, timestamp: number }, at.schema);
  },
  /** In a block after the head, in the place of one that was undone if need be. */
  create: async (at: Place) => {
    await CHANGES.undo(at);
    const { rowCount } = await run(at, `SELECT FROM ${at.schema}.pool WHERE chain_id = $1 AND address = $2`);
    if (rowCount) return;
    const seeder = seeders[INDEXES.indexOf(at.schema)] as Seeder;
    const { chainId, pool: address, number } = at;
    const block = headOf(at) + 1;
    await seedPools(seeder.db, [{ pool: { chainId, address, createdBlockNumber: block, lowestBin: -number } }]);
    if (number % 2) {
      await run(
        at,
        `INSERT INTO ${at.schema}.pool_extension (chain_id, pool, position, address, phases, block_number, block_timestamp)
         VALUES ($1, $2, 1, $2, '{afterSwap}', 1, 1)`,
      );
    }
    // Capture reads a pool once it is there.
    await run(at, 'UPDATE operator.price_health SET captured_at = now() WHERE chain_id = $1 AND pool = $2');
    await CHANGES.advance({ ...at, number: 1 });
  },
  undo: async (at: Place) => {
    const { rowCount } = await run(
      at,
      `DELETE FROM ${at.schema}.pool
       WHERE chain_id = $1 AND address = $2 AND created_block_number >= ${headOf(at) - UNDOABLE}`,
    );
    if (!rowCount) return;
    await run(at, `DELETE FROM ${at.schema}.pool_state WHERE chain_id = $1 AND pool = $2`);
    await run(at, `DELETE FROM ${at.schema}.pool_extension WHERE chain_id = $1 AND pool = $2`);
  },
  report: (at: Place) =>
    run(
      at,
      `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at, balance0_raw,
         is_funded)
       VALUES ($1, $2, '${at.number % 3 ? 'healthy' : 'feed_down'}', 1, 1, now(), ${at.number}, ${at.number % 2} = 0)
       ON CONFLICT (chain_id, pool) DO UPDATE SET status = excluded.status, captured_at = now(),
         balance0_raw = excluded.balance0_raw, is_funded = excluded.is_funded`,
    ),
  delist: (at: Place) =>
    run(at, 'INSERT INTO operator.delisted_pool (chain_id, pool) VALUES ($1, $2) ON CONFLICT DO NOTHING'),
  relist: (at: Place) => run(at, 'DELETE FROM operator.delisted_pool WHERE chain_id = $1 AND pool = $2'),
  serve: (at: Place) => serveSchema(indexer.$client, at.schema),
  disconnect: () =>
    client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'directory'"),
  /** Until another poll has begun. */
  wait: () => new Promise((resolve) => database.$client.once('acquire', resolve)),
} as const;

const changes = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 3, arbitrary: fc.constant('create' as const) },
      { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])) },
    ),
    place,
  }),
  { minLength: 5, maxLength: 40 },
);

function run({ chainId, pool }: Place, statement: string) {
  return client.query(statement, [chainId, pool]);
}

/** All that a catalog knows, and the graph of each of its chains. */
async function knownOf({ catalog, reports }: Followed) {
  const table = await catalog.table();
  const pools = CHAINS.flatMap((chainId) => table.ofChain(chainId)).sort(
    (a, b) => a.chainId - b.chainId || (a.address < b.address ? -1 : 1),
  );
  const joined = CHAINS.flatMap((chainId) => table.graph(chainId).neighbours(TOKEN0)?.get(TOKEN1) ?? []);
  return pools.map((pool) => ({
    pool,
    report: reports.get(pool) ?? null,
    isFunded: catalog.isFunded(pool),
    isJoined: joined.includes(pool),
  }));
}

/** What a catalog reads that begins now. */
async function fullReading() {
  const fresh = follow(other);
  const known = await knownOf(fresh);
  fresh.catalog.stop();
  return known;
}

test('whatever changes, the catalog ends equal to a full reading', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      for (const { kind, place } of list) await CHANGES[kind](place);
      const expected = await fullReading();
      await expect.poll(() => knownOf(followed), { interval: 5 }).toEqual(expected);
      expect(followed.reports.size).toBe(expected.filter(({ report }) => report).length);
      // An unknown extension after swaps keeps a pool out of routes.
      for (const { pool, isJoined } of expected) expect(isJoined).toBe(pool.extensions.length === 0);
    }),
    { numRuns: runs(10) },
  );
});
