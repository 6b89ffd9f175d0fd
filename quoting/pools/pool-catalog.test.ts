import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createIndexedDatabase, type IndexedDatabase } from '../../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
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
import { readAllPools, readPoolsSince, readReports } from './catalog-rows.ts';
import { PoolCatalog } from './pool-catalog.ts';

const STOP_LOSS = seedAddress(0x51);
const ROUTER = seedAddress(0xa0);
const deployment = {
  contractVersion: 'v1',
  layout: 'flat',
  fromBlock: 0,
  poolFactory: FACTORY,
  stopLoss: STOP_LOSS,
  router: ROUTER,
};
const { chains } = parseChainsFile(
  {
    chains: [
      {
        chainId: 7,
        name: 'seven',
        rpcUrls: ['http://127.0.0.1:1'],
        blockTimeMs: 1_000,
        deployments: [deployment, { ...deployment, poolFactory: seedAddress(0xdead), enabled: false }],
      },
    ],
  },
  'test',
);
/** More digits than a double has. */
const WIDE = 10n ** 18n + 1n;
/** More than 32 bits. */
const LATE_BLOCK = 5_000_000_000;
const [LISTED, LOCKED, DELISTED, DISABLED, FOREIGN] = [1, 2, 3, 4, 5].map((n) => seedAddress(0x1000 + n)) as [
  ...Array<`0x${string}`>,
] as [`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`];

const home = startedWorld(createIndexedDatabase);
let database: Database;
let client: IndexedDatabase['client'];
let seeder: Seeder;
let catalog: PoolCatalog;
const logger = createLogger('test', 'silent');

beforeAll(async () => {
  client = home.client;
  seeder = openSeeder(home.url);
  await seedToken(seeder.db, { chainId: 7, address: TOKEN0, symbol: 'WETH', decimals: 18 });
  await seedToken(seeder.db, { chainId: 7, address: TOKEN1, symbol: null, name: null, decimals: null });
  await seedPools(seeder.db, [
    { pool: { chainId: 7, address: LISTED, lowestBin: -7, highestBin: 9, token1ScaleMultiplier: WIDE } },
    { pool: { chainId: 7, address: LOCKED, priceProviderTimelockSecs: 2n ** 256n - 1n } },
    { pool: { chainId: 7, address: DELISTED } },
    { pool: { chainId: 7, address: DISABLED, factory: seedAddress(0xdead) } },
    { pool: { chainId: 8, address: FOREIGN, createdBlockNumber: LATE_BLOCK } },
  ]);
  await client.query(
    `INSERT INTO ${ONCHAIN_SCHEMA}.pool_extension (chain_id, pool, position, address, phases, block_number, block_timestamp)
     VALUES (7, $1, 1, $2, '{afterSwap}', 1, 1), (7, $1, 2, $3, '{beforeSwap,beforeAddLiquidity}', 1, 1)`,
    [LISTED, STOP_LOSS, seedAddress(0x99)],
  );
  await delist(DELISTED);
  database = openDatabase(home.url, 'ptd_api', logger);
  catalog = new PoolCatalog({ database, chains, logger, now: () => performance.now() });
});

afterAll(async () => {
  catalog.stop();
  await Promise.all([seeder.end(), database.$client.end()]);
});

const delist = (pool: string) =>
  client.query('INSERT INTO operator.delisted_pool (chain_id, pool) VALUES (7, $1)', [pool]);

/** Waits until the table says so; the catalog looks every two seconds. */
const eventually = (holds: () => Promise<boolean>) => vi.waitUntil(holds, { interval: 100, timeout: 30_000 });

/** Rows of a chain, by slice. */
async function slices<R>(rows: AsyncGenerator<readonly R[]>): Promise<(readonly R[])[]> {
  const all: (readonly R[])[] = [];
  for await (const slice of rows) all.push(slice);
  return all;
}

test('pools are read all, or from a block on, however little is known of them', async () => {
  const pool = database.$client;
  const addresses = async (rows: ReturnType<typeof readAllPools>) =>
    (await slices(rows)).flat().map(({ address }) => address);
  const all = [LISTED, LOCKED, DELISTED, DISABLED];
  expect(await addresses(readAllPools(pool, 7))).toEqual(all);
  expect(await addresses(readPoolsSince(pool, 7, 100))).toEqual(all);
  expect(await addresses(readPoolsSince(pool, 7, 101))).toEqual([]);
  expect((await slices(readPoolsSince(pool, 8, LATE_BLOCK))).flat()).toMatchObject([
    { address: FOREIGN, block: LATE_BLOCK, symbol0: null, decimals0: null, extensions: null },
  ]);
});

test('thousands are read once each, in slices that are not planned again', async () => {
  const many = Array.from({ length: 2_500 }, (_, number) => seedAddress(0x5001 + number));
  const rows = many.map((address, number) => ({ pool: { chainId: 9, address, createdBlockNumber: 1 + (number % 2) } }));
  for (let start = 0; start < rows.length; start += 500) await seedPools(seeder.db, rows.slice(start, start + 500));
  await client.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at)
     SELECT 9, pool, 'healthy', 1, 1, to_timestamp(1000 + place % 2) FROM unnest($1::text[]) WITH ORDINALITY AS p (pool, place)`,
    [many],
  );
  await client.query('ANALYZE');
  const single = openDatabase(home.url, 'ptd_api', logger, { max: 1 });
  const readings = () => [
    readAllPools(single.$client, 9),
    readPoolsSince(single.$client, 9, 1),
    readReports(single.$client, 9, 0),
  ];
  for (const reading of [...readings(), ...readings(), ...readings()]) {
    const read: (readonly { readonly address: string }[])[] = await slices<{ readonly address: string }>(reading);
    expect(read.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(new Set(read.flat().map(({ address }) => address))).toEqual(new Set(many));
  }
  const statements = await single.$client.query(
    'SELECT name, generic_plans > 0 AS kept FROM pg_prepared_statements ORDER BY name',
  );
  await single.$client.end();
  expect(statements.rows).toEqual(
    ['catalog-pools', 'catalog-pools-since', 'catalog-reports'].map((name) => ({ name, kept: true })),
  );
});

test('a pool is served with what never changes about it', async () => {
  const table = await catalog.table();
  expect(table.find(7, LISTED)).toEqual({
    chainId: 7,
    address: LISTED,
    contractVersion: 'v1',
    layout: 'flat',
    pair: `WETH/${TOKEN1}`,
    token0: { address: TOKEN0, symbol: 'WETH', decimals: 18 },
    token1: { address: TOKEN1, symbol: null, decimals: null },
    immutables: { lowestBin: -7, highestBin: 9, scale: { multiplier0: 1n, multiplier1: WIDE } },
    immutableProvider: null,
    extensions: [
      { address: STOP_LOSS, kind: 'stopLoss', phases: ['afterSwap'] },
      { address: seedAddress(0x99), kind: 'custom', phases: ['beforeSwap', 'beforeAddLiquidity'] },
    ],
    stopLossMark: 'mean',
    router: ROUTER,
  });
  expect(table.find(7, LOCKED)?.immutableProvider).toBe(seedAddress(0x9));
});

test('delisted pools, disabled releases and other chains are not served', async () => {
  const table = await catalog.table();
  expect(
    table
      .ofChain(7)
      .map(({ address }) => address)
      .sort(),
  ).toEqual([LISTED, LOCKED]);
  for (const address of [DELISTED, DISABLED]) expect(table.find(7, address)).toBeUndefined();
  for (const chainId of [7, 8]) expect(table.find(chainId, FOREIGN)).toBeUndefined();
});

test('a new pool appears and a delisted one goes within seconds; the others stay the same objects', async () => {
  const fresh = seedAddress(0x2001);
  const before = (await catalog.table()).find(7, LISTED);
  await seedPools(seeder.db, [{ pool: { chainId: 7, address: fresh } }]);
  await eventually(async () => (await catalog.table()).find(7, fresh) !== undefined);
  await delist(fresh);
  await eventually(async () => (await catalog.table()).find(7, fresh) === undefined);
  expect((await catalog.table()).find(7, LISTED)).toBe(before);
});

test('what was loaded once is served while the database is unreachable; what never was, is 503', async () => {
  const doomed = openDatabase(home.url, 'ptd_api', logger);
  const own = createLogger('test', 'silent');
  const failures = vi.spyOn(own, 'warn');
  const loaded = new PoolCatalog({ database: doomed, chains, logger: own, pollMs: 5, now: () => performance.now() });
  await loaded.table();
  const never = new PoolCatalog({ database: doomed, chains, logger, now: () => performance.now() });
  await doomed.$client.end();
  await vi.waitUntil(() => failures.mock.calls.length > 0);
  expect((await loaded.table()).find(7, LISTED)).toBeDefined();
  await expect(never.table()).rejects.toMatchObject({ code: 'pools_unknown', retryable: true });
  loaded.stop();
  never.stop();
});

test('a poll reads the pools of blocks that may be undone', async () => {
  const watched = openDatabase(home.url, 'ptd_api', logger);
  const own = new PoolCatalog({ database: watched, chains, logger, pollMs: 5, now: () => performance.now() });
  const before = (await own.table()).ofChain(7).length;
  const queries = vi.spyOn(watched.$client, 'query');
  /** From which block on the last poll read, of a chain that is indexed up to a block. */
  const fromBlockAt = async (head: number) => {
    await setIndexedBlock(client, { chainId: 7, number: head, timestamp: 1 });
    return () => {
      const calls = queries.mock.calls as unknown as [{ readonly name?: string; readonly values: unknown[] }][];
      return calls.findLast(([{ name }]) => name === 'catalog-pools-since')?.[0].values[1];
    };
  };
  await expect.poll(await fromBlockAt(580)).toBe(100);
  await expect.poll(await fromBlockAt(581)).toBe(101);
  expect((await own.table()).ofChain(7)).toHaveLength(before);
  own.stop();
  await watched.$client.end();
  await client.query(`DELETE FROM ${ONCHAIN_SCHEMA}._ponder_checkpoint`);
});

test('pools whose storage no arrangement explains are not served until one does', async () => {
  const own = new PoolCatalog({ database, chains, logger, pollMs: 50, now: () => performance.now() });
  const served = async () => (await own.table()).find(7, LISTED) !== undefined;
  try {
    expect(await served()).toBe(true);
    const pool = (await own.table()).find(7, LISTED);
    await client.query(
      "INSERT INTO operator.layout_calibration VALUES (7, $1, 'storage', 'none', '{}', 'job', now(), 1)",
      [FACTORY],
    );
    await eventually(async () => !(await served()));
    expect((await own.table()).ofChain(7)).toEqual([]);
    await client.query("UPDATE operator.layout_calibration SET decided = NULL WHERE what = 'storage'");
    await eventually(served);
    expect((await own.table()).find(7, LISTED)).toEqual(pool);
  } finally {
    own.stop();
    await client.query('DELETE FROM operator.layout_calibration');
  }
});

test('the mark of a packed stop loss is what was found, and a setting comes before it', async () => {
  const served = (stopLossMark?: 'mid') =>
    new PoolCatalog({
      now: () => performance.now(),
      database,
      logger,
      pollMs: 50,
      chains: chains.map((chain) => ({
        ...chain,
        deployments: chain.deployments.map((each) => ({
          ...each,
          layout: 'packed',
          ...(stopLossMark && { stopLossMark }),
        })),
      })),
    });
  const [own, set] = [served(), served('mid')];
  const markOf = async (of: PoolCatalog) => (await of.table()).find(7, LISTED)?.stopLossMark;
  try {
    expect([await markOf(own), await markOf(set)]).toEqual([null, 'mid']);
    await client.query(
      "INSERT INTO operator.layout_calibration VALUES (7, $1, 'stopLossMark', 'bidAsk', '{}', 'job', now(), 1)",
      [FACTORY],
    );
    await eventually(async () => (await markOf(own)) === 'bidAsk');
    expect(await markOf(set)).toBe('mid');
  } finally {
    own.stop();
    set.stop();
    await client.query('DELETE FROM operator.layout_calibration');
  }
});
