import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { createOnchainTables, publishLiveViews } from '../../test/harness/onchain-tables.ts';
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
import type { ServedPool } from './pool-directory.ts';
import { SqlPoolDirectory } from './sql-pool-directory.ts';

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
/** So few pools at a time that each market takes many slices and passes. */
const PACE = { pollMs: 5, slice: 3, comparedPerPoll: 6 };

let home: TestDatabase;
let database: Database;
let other: Database;
let client: pg.Client;
let seeders: readonly Seeder[];
let directory: SqlPoolDirectory;

beforeAll(async () => {
  home = await createDatabase();
  await migrate(home.url);
  client = new pg.Client({ connectionString: home.url });
  await client.connect();
  for (const schema of INDEXES) await createOnchainTables(client, schema);
  seeders = INDEXES.map((schema) => openSeeder(home.url, schema));
  for (const { db } of seeders) {
    for (const chainId of CHAINS) for (const address of [TOKEN0, TOKEN1]) await seedToken(db, { chainId, address });
  }
  database = openDatabase(`${home.url}?application_name=directory`, logger);
  other = openDatabase(home.url, logger);
  directory = new SqlPoolDirectory({ database, chains, logger, pace: PACE });
});

afterAll(async () => {
  directory.stop();
  await Promise.all([client.end(), database.$client.end(), other.$client.end(), ...seeders.map(({ end }) => end())]);
  await home.drop();
});

/** Where a change happens: in one of the two indexes, to one of the pools that there may be. */
interface Place {
  readonly schema: (typeof INDEXES)[number];
  readonly chainId: number;
  readonly pool: Address;
  /** Any small number. */
  readonly block: number;
}

const place: fc.Arbitrary<Place> = fc.record({
  schema: fc.constantFrom(...INDEXES),
  chainId: fc.constantFrom(...CHAINS),
  pool: fc.integer({ min: 1, max: 12 }).map((number) => seedAddress(0x1000 + number)),
  block: fc.nat(1_000),
});

const CHANGES = {
  create: async (at: Place) => {
    await CHANGES.undo(at);
    const seeder = seeders[INDEXES.indexOf(at.schema)] as Seeder;
    const { chainId, pool: address, block } = at;
    await seedPools(seeder.db, [{ pool: { chainId, address, createdBlockNumber: block, lowestBin: -block } }]);
  },
  undo: async (at: Place) => {
    await run(at, `DELETE FROM ${at.schema}.pool_state WHERE chain_id = $1 AND pool = $2`);
    await run(at, `DELETE FROM ${at.schema}.pool_extension WHERE chain_id = $1 AND pool = $2`);
    await run(at, `DELETE FROM ${at.schema}.pool WHERE chain_id = $1 AND address = $2`);
  },
  set: (at: Place) =>
    run(at, `UPDATE ${at.schema}.pool SET highest_bin = highest_bin + 1 WHERE chain_id = $1 AND address = $2`),
  extend: (at: Place) =>
    run(
      at,
      `INSERT INTO ${at.schema}.pool_extension (chain_id, pool, position, address, phases, block_number, block_timestamp)
       SELECT $1, $2, count(*) + 1, $2, '{afterSwap}', 1, 1
       FROM ${at.schema}.pool_extension WHERE chain_id = $1 AND pool = $2`,
    ),
  rename: (at: Place) => run(at, `UPDATE ${at.schema}.token SET symbol = right($2, 3) WHERE chain_id = $1`),
  delist: (at: Place) =>
    run(at, 'INSERT INTO operator.delisted_pool (chain_id, pool) VALUES ($1, $2) ON CONFLICT DO NOTHING'),
  relist: (at: Place) => run(at, 'DELETE FROM operator.delisted_pool WHERE chain_id = $1 AND pool = $2'),
  serve: (at: Place) => publishLiveViews(client, at.schema),
  disconnect: () =>
    client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'directory'"),
  wait: () => sleep(PACE.pollMs),
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

async function run({ chainId, pool }: Place, statement: string): Promise<void> {
  await client.query(statement, [chainId, pool]);
}

async function sorted(from: SqlPoolDirectory): Promise<ServedPool[]> {
  const pools = [...(await from.table()).pools()];
  return pools.sort((a, b) => a.chainId - b.chainId || (a.address < b.address ? -1 : 1));
}

/** What a directory reads that begins now. */
async function fullReading(): Promise<ServedPool[]> {
  const fresh = new SqlPoolDirectory({ database: other, chains, logger });
  const pools = await sorted(fresh);
  fresh.stop();
  return pools;
}

test('whatever changes, the directory ends equal to a full reading, and its graph with it', async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      for (const { kind, place } of list) await CHANGES[kind](place);
      const expected = await fullReading();
      await expect.poll(() => sorted(directory), { timeout: 20_000, interval: 5 }).toEqual(expected);
      const table = await directory.table();
      const joined = CHAINS.flatMap((chainId) => table.graph(chainId).neighbours(TOKEN0)?.get(TOKEN1) ?? []);
      // An unknown extension after swaps keeps a pool out of routes.
      expect(new Set(joined)).toEqual(new Set(expected.filter(({ extensions }) => extensions.length === 0)));
    }),
    { numRuns: 25 },
  );
});
