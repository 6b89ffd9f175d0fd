import { beforeAll, expect, test } from 'vitest';
import { openChainRpc } from '../chain/chain-rpc.ts';
import { CallBudget } from '../chain/read-schedule/call-budget.ts';
import { ChainConfig } from '../config/chains-schema.ts';
import { migratedDatabase } from '../test/harness/migrated-database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA } from '../test/harness/onchain-tables.ts';
import { openSeeder, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../test/harness/seed-pools.ts';
import { createPriceCapture } from './price-health/capture-prices.ts';
import { CAPTURE_CLASSES, readPoolValues } from './read-schedule/pool-values.ts';

const CHAIN = 5;
const [KEPT, UNDONE] = [seedAddress(1), seedAddress(2)];

const database = migratedDatabase();

beforeAll(async () => {
  await createOnchainTables(database.pool);
  const seeder = openSeeder(database.url);
  for (const address of [TOKEN0, TOKEN1]) await seedToken(seeder.db, { chainId: CHAIN, address });
  await seedPools(
    seeder.db,
    [KEPT, UNDONE].map((address) => ({ pool: { chainId: CHAIN, address } })),
  );
  await seeder.end();
});

const undo = () =>
  database.pool.query(`DELETE FROM ${ONCHAIN_SCHEMA}.pool WHERE chain_id = $1 AND address = $2`, [CHAIN, UNDONE]);

const poolsIn = async (table: string) =>
  (await database.pool.query<{ pool: string }>(`SELECT pool FROM operator.${table} ORDER BY pool`)).rows.map(
    (row) => row.pool,
  );

test('a pool that a reorganisation undid has no price any more', async () => {
  const chain = { chainId: CHAIN, name: 'five', rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1_000 };
  await database.pool.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at)
     SELECT chain_id, address, 'healthy', 1, 1, now() FROM read_model.pool`,
  );

  await undo();
  // No pool of the chain is served: nothing is asked of its node, and only its own readings go.
  await database.pool.query("INSERT INTO operator.price_health VALUES ($1, $2, 'healthy', NULL, NULL, 1, 1, now())", [
    CHAIN + 1,
    UNDONE,
  ]);
  const unserved = ChainConfig.parse({ ...chain, deployments: [] });
  const rpc = openChainRpc({ chainId: CHAIN, rpcUrls: ['http://127.0.0.1:1'] }, 1_000);
  const capture = createPriceCapture({
    database: database.pool,
    chainId: CHAIN,
    budget: new CallBudget(240, CAPTURE_CLASSES, () => performance.now()),
    now: () => performance.now(),
    rpcs: { funded: rpc, remaining: rpc },
    closed: [],
    logUnknown: () => undefined,
    pools: () => readPoolValues(database.pool, unserved),
  });
  expect(await capture('funded')).toBe(0);
  expect(await poolsIn('price_health')).toEqual([UNDONE]);
});
