import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { PoolTable, type ServedPool } from '../snapshots/pool-directory.ts';
import { DepthEstimates } from './depth-estimates.ts';
import { startPoolRecords } from './pool-records.ts';

const Q64 = 2n ** 64n;
/** More than are read at a time. */
const POOLS = 1_200;
let home: TestDatabase;

/** WETH for USDC. */
const pool = (number: number): ServedPool => ({
  chainId: 7,
  address: seedAddress(number),
  contractVersion: 'v1',
  layout: 'flat',
  token0: { address: seedAddress(0x70), symbol: 'WETH', decimals: 18 },
  token1: { address: seedAddress(0x71), symbol: 'USDC', decimals: 6 },
  pair: 'WETH/USDC',
  immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 6) },
  immutableProvider: null,
  extensions: [],
  stopLossMark: 'mean',
});

beforeAll(async () => {
  home = await createDatabase();
  await migrate(home.url);
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  const insert = (number: number, status: string, weth: string | null, usdc: string | null) =>
    client.query(
      `INSERT INTO operator.price_health (chain_id, pool, status, sell_price_x64, buy_price_x64, block_number,
         block_timestamp, captured_at, balance0_raw, balance1_raw)
       VALUES (7, $1, $2, $3, $4, 1, 1, now(), $5, $6)`,
      [seedAddress(number), status, String(3_000n * Q64), String(4_000n * Q64), weth, usdc],
    );
  await insert(1, 'healthy', '2000000000000000000', '6000000');
  await insert(2, 'pool_refused', '2000000000000000000', '6000000');
  await insert(3, 'healthy', '0', null);
  await insert(4, 'healthy', null, '9000000');
  await client.query(`INSERT INTO operator.pool_classification VALUES (7, $1, 'green', '{}')`, [seedAddress(1)]);
  await client.query(`
    INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at, balance0_raw)
    SELECT 7, '0x' || lpad(to_hex(4096 + n), 40, '0'), 'healthy', 1, 1, now(), n FROM generate_series(1, ${POOLS}) n`);
  await client.end();
});

afterAll(() => home.drop());

test('records are what healthy pools hold at their prices, in raw units, for all pools of the chain', async () => {
  const logger = createLogger('test', 'silent');
  const database = openDatabase(home.url, logger);
  const estimates = new DepthEstimates();
  const last = pool(4096 + POOLS);
  const table = new PoolTable([1, 2, 3, 4].map(pool).concat(last));
  const directory = { table: async () => table };
  const records = startPoolRecords({ database, directory, estimates, chainIds: [7], logger });
  const both = (number: number) =>
    [true, false].map((zeroForOne) =>
      estimates.of(7).describe(table.find(7, seedAddress(number)) as ServedPool, zeroForOne),
    );
  await expect.poll(() => both(2)[0]?.estimate).not.toBeNull();
  const nothing = { inputs: [], outputs: [] };
  expect(both(1)).toMatchObject([
    { estimate: { inputs: [expect.closeTo(2e15, 0)], outputs: [6e6] }, isObserved: false, tierRank: 4 },
    { estimate: { inputs: [expect.closeTo(8e9, 0)], outputs: [2e18] }, isObserved: false, tierRank: 4 },
  ]);
  expect(both(2).map(({ estimate }) => estimate)).toEqual([nothing, nothing]);
  expect(both(3).map(({ estimate }) => estimate)).toEqual([nothing, nothing]);
  expect(both(4)).toMatchObject([
    { estimate: { inputs: [expect.closeTo(3e15, 0)], outputs: [9e6] }, tierRank: 1 },
    { estimate: nothing },
  ]);
  // Without prices nothing is executable.
  expect(estimates.of(7).describe(last, true)).toMatchObject({ estimate: nothing, tierRank: 1 });
  records.stop();
  await database.$client.end();
});
