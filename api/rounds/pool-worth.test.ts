import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createIndexedDatabase, type IndexedDatabase } from '../../test/harness/indexed-database.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { PoolWorth } from './pool-worth.ts';

const WAIT = { timeout: 10_000, interval: 10 };
/** More than are read at a time. */
const POOLS = 4_500;

let home: IndexedDatabase;
let database: Database;
let worth: PoolWorth;

const chainOf = (chainId: number, minFundedUsd: number) =>
  ChainConfig.parse({
    chainId,
    name: `chain ${chainId}`,
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
    readBudget: { minFundedUsd },
  });
const chains = [chainOf(1, 1), chainOf(2, 1_000)];

/** Lists pools with the numbers from `first` on. */
const list = (chainId: number, first: number, count: number, tvl: number | null) =>
  home.client.query(
    `INSERT INTO operator.pool_listing (chain_id, pool, contract_version, created_block_number, tier, tier_rank, tvl_fiat,
       price_status, locked_pricing, deposit_allowlist)
     SELECT $1, '0x' || lpad(to_hex($2 + n), 40, '0'), 'v1', 1, 'green', 1, $3::float8, 'unknown', false, false
     FROM generate_series(0, $4 - 1) n`,
    [chainId, first, tvl, count],
  );

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  home = await createIndexedDatabase();
  await list(1, 1, POOLS, 1);
  await list(1, 10_001, 1, 0.99);
  await list(1, 10_002, 1, null);
  await list(2, 1, 1, 999);
  await list(2, 2, 1, 1_000);
  database = openDatabase(home.url, createLogger('test', 'silent'));
  worth = new PoolWorth({ database, chains, logger: createLogger('test', 'silent') });
});

afterAll(async () => {
  worth.stop();
  vi.useRealTimers();
  await database.$client.end();
  await home.drop();
});

const known = (chainId: number, numbers: readonly number[]) =>
  numbers.filter((number) => worth.has(chainId, seedAddress(number)));
const readAgain = () => vi.advanceTimersByTime(30_000);

test('a pool has worth that holds what its chain asks for, whatever their number', async () => {
  expect(worth.has(1, seedAddress(1))).toBe(false);
  await vi.waitUntil(() => worth.has(2, seedAddress(2)), WAIT);
  const all = Array.from({ length: POOLS }, (_, index) => index + 1);
  expect(known(1, all)).toHaveLength(POOLS);
  expect(known(1, [10_001, 10_002, 20_000])).toEqual([]);
  expect([known(2, [1, 2]), known(3, [1])]).toEqual([[2], []]);
});

test('half a minute later what the listing says then counts', async () => {
  await home.client.query('UPDATE operator.pool_listing SET tvl_fiat = 1000 - tvl_fiat WHERE chain_id = 2');
  await list(2, 3, 1, 2_000);
  readAgain();
  await vi.waitUntil(() => worth.has(2, seedAddress(3)), WAIT);
  expect(known(2, [1, 2])).toEqual([]);
});

test('while the database does not answer, the last known counts', async () => {
  const warn = vi.fn();
  const gone = openDatabase(home.url, createLogger('test', 'silent'));
  const other = new PoolWorth({ database: gone, chains, logger: { warn } as never });
  await vi.waitUntil(() => other.has(2, seedAddress(3)), WAIT);
  await gone.$client.end();
  readAgain();
  await vi.waitUntil(() => warn.mock.calls.length > 0, WAIT);
  expect(other.has(2, seedAddress(3))).toBe(true);
  other.stop();
});
