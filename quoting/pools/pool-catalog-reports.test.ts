import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { addFaultyLogs } from '../../db/log-faults.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import {
  FACTORY,
  openSeeder,
  seedAddress,
  seedPools,
  seedToken,
  TOKEN0,
  TOKEN1,
} from '../../test/harness/seed-pools.ts';
import { NO_AUDIT, type PoolReport } from './chain-catalog.ts';
import { PoolCatalog } from './pool-catalog.ts';

const WAIT = { interval: 10 };
const pollMs = 20;
const POOLS = 120;
const logger = createLogger('test', 'silent');
const NO_AGES = {
  newestPriceAgeSecs: null,
  oldestPriceAgeSecs: null,
  listingAgeSecs: null,
  fiatPriceAgeSecs: null,
  fiatPricesLost: false,
  audit: NO_AUDIT,
  faultyNodes: [],
};

const home = startedWorld(createIndexedDatabase);
let database: Database;
let catalog: PoolCatalog;
const reports = new Map<string, PoolReport | null>();

const chains = [1, 2].map((chainId) =>
  ChainConfig.parse({
    chainId,
    name: `chain ${chainId}`,
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY }],
  }),
);

/** Writes what capture read of pools of chain 1, with the numbers from `first` on. */
const capture = (first: number, count: number, balance: number, ageSecs = 0, isFunded = false) =>
  home.client.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, sell_price_x64, buy_price_x64, block_number,
       block_timestamp, captured_at, balance0_raw, is_funded)
     SELECT 1, '0x' || lpad(to_hex($1 + n), 40, '0'), 'healthy', 3 * 2::numeric ^ 64, 4 * 2::numeric ^ 64, 1, 1,
       now() - make_interval(secs => $4), $3, $5
     FROM generate_series(0, $2 - 1) n
     ON CONFLICT (chain_id, pool) DO UPDATE SET captured_at = excluded.captured_at,
       balance0_raw = excluded.balance0_raw, is_funded = excluded.is_funded`,
    [first, count, balance, ageSecs, isFunded],
  );

beforeAll(async () => {
  const seeder = openSeeder(home.url);
  for (const address of [TOKEN0, TOKEN1]) await seedToken(seeder.db, { chainId: 1, address });
  await seedPools(
    seeder.db,
    Array.from({ length: POOLS }, (_, index) => ({ pool: { chainId: 1, address: seedAddress(1 + index) } })),
  );
  await seeder.end();
  await home.client.query(`INSERT INTO operator.pool_classification VALUES (1, $1, 'red', '{}')`, [seedAddress(1)]);
  await capture(1, POOLS + 1, 7, 40);
  await capture(2, 1, 7, 5, true);
  database = openDatabase(home.url, 'ptd_api', logger);
  catalog = new PoolCatalog({ database, chains, logger, pollMs, now: () => performance.now() });
  catalog.onReport(({ address }, report) => reports.set(address, report));
});

afterAll(async () => {
  catalog.stop();
  await database.$client.end();
});

/** Never there: a catalog that waits for it reads nothing. */
const firstIndex = new Promise<void>(() => undefined);

const funded = (from: PoolCatalog, numbers: readonly number[]) =>
  numbers.filter((number) => from.isFunded({ chainId: 1, address: seedAddress(number) }));

test('pools are funded that capture read as such', async () => {
  const unread = new PoolCatalog({ database, chains, logger, now: () => performance.now(), firstIndex });
  expect(funded(unread, [2])).toEqual([]);
  unread.stop();
  await catalog.table();
  expect(funded(catalog, [1, 2, 3])).toEqual([2]);
  expect(catalog.isFunded({ chainId: 2, address: seedAddress(2) })).toBe(false);
  await capture(2, 1, 7);
  await capture(4, 1, 7, 0, true);
  await vi.waitUntil(() => funded(catalog, [4]).length > 0, WAIT);
  expect(funded(catalog, [1, 2, 3])).toEqual([]);
});

test('what capture read of served pools is reported, first of all, then of those that it read again', async () => {
  const price = { isHealthy: true, sellX64: 3 * 2 ** 64, buyX64: 4 * 2 ** 64, balance1: 0 };
  expect(reports.size).toBe(POOLS);
  expect(reports.get(seedAddress(1))).toEqual({ ...price, balance0: 7, tier: 'red' });
  reports.clear();
  await capture(3, 1, 8);
  await vi.waitUntil(() => reports.get(seedAddress(3))?.balance0 === 8, WAIT);
  expect(reports.get(seedAddress(3))).toEqual({ ...price, balance0: 8, tier: null });
  // Those that were captured long before are not read again.
  expect(reports.size).toBeLessThanOrEqual(3);
  await home.client.query('INSERT INTO operator.delisted_pool (chain_id, pool) VALUES (1, $1)', [seedAddress(3)]);
  await vi.waitUntil(() => reports.get(seedAddress(3)) === null, WAIT);
  await home.client.query('DELETE FROM operator.delisted_pool');
  await vi.waitUntil(() => reports.get(seedAddress(3))?.balance0 === 8, WAIT);
  expect(reports.size).toBe(POOLS);
});

test('ages are those of the pools captured last and longest ago; unknown ones are null', async () => {
  const { newestPriceAgeSecs, oldestPriceAgeSecs, listingAgeSecs } = catalog.ages(1);
  expect(newestPriceAgeSecs).toBeLessThan(40);
  expect(oldestPriceAgeSecs).toBeGreaterThanOrEqual(40);
  expect(listingAgeSecs).toBeNull();
  await home.client.query(
    `INSERT INTO operator.listing_window (chain_id, generation, from_ts, to_ts, from_block, to_block, generated_at_ts)
     VALUES (2, 1, 1, 1, 1, 1, extract(epoch FROM now())::int8 - 61)`,
  );
  await vi.waitUntil(() => catalog.ages(2).listingAgeSecs !== null, WAIT);
  expect(catalog.ages(2)).toMatchObject({ newestPriceAgeSecs: null, oldestPriceAgeSecs: null });
  expect(catalog.ages(2).listingAgeSecs).toBeGreaterThanOrEqual(60);
  expect(catalog.ages(3)).toEqual(NO_AGES);
});

test('while the database does not answer, the last known counts, and ages are unknown', async () => {
  const warn = vi.fn();
  const unreachable = openDatabase(home.url, 'ptd_api', logger);
  const other = new PoolCatalog({
    database: unreachable,
    chains,
    logger: { warn } as never,
    pollMs,
    now: () => performance.now(),
  });
  await other.table();
  expect(other.ages(1)).not.toEqual(NO_AGES);
  await unreachable.$client.end();
  await vi.waitUntil(() => warn.mock.calls.length > 0, WAIT);
  expect(funded(other, [3, 4])).toEqual([4]);
  expect((await other.table()).find(1, seedAddress(1))).toBeDefined();
  expect(other.ages(1)).toEqual(NO_AGES);
  other.stop();
});

test('nodes that gave wrong logs are named for a day after the last time, with all that they did', async () => {
  const faulty = (node: string, leftOut: number) =>
    addFaultyLogs(home.client, { chainId: 1, node, leftOut, invented: 1 });
  await faulty('lossy.example', 2);
  await faulty('lossy.example', 3);
  await faulty('once.example', 1);
  await home.client.query(
    "UPDATE operator.log_fault SET last_at = now() - interval '25 hours' WHERE node LIKE 'once%'",
  );
  const named = { node: 'lossy.example', leftOut: 5, invented: 2, lastAt: expect.closeTo(Date.now() / 1_000, -2) };
  await expect.poll(() => catalog.ages(1).faultyNodes, WAIT).toEqual([named]);
  expect(catalog.ages(2).faultyNodes).toEqual([]);
});
