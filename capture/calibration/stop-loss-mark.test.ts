import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { ChainsFile } from '../../config/chains-schema.ts';
import * as onchain from '../../indexer/ponder.schema.ts';
import { createIndexedDatabase, type IndexedDatabase } from '../../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { FACTORY, openSeeder, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { type GuardedMarket, type GuardedPool, openGuardedMarket } from '../../test/quotes/guarded-market.ts';
import { calibrateFactories } from './calibration-job.ts';
import { readCalibration } from './calibration-rows.ts';

const CHAIN = 31_337;
const ONE = 10n ** 18n;
const SPEC = {
  decimals0: 18,
  decimals1: 18,
  price: 2_000,
  below: 2,
  above: 2,
  lengthE6: 1_000,
  notionalFeeE8: 0,
  drawdownE6: 100_000,
  valuePerShare: ONE,
};

let market: GuardedMarket;
let created: IndexedDatabase;
let database: pg.Pool;
const warned: { fields: unknown; text: unknown }[] = [];

beforeAll(async () => {
  [market, created] = await Promise.all([openGuardedMarket(null), createIndexedDatabase()]);
  database = new pg.Pool({ connectionString: created.url, max: 2 });
  database.on('error', () => undefined);
  const pool = await market.make(SPEC);
  await index(pool);
  for (let round = 0; round < 4; round++) {
    await pool.movePrice(2_000 * (1 + round / 200));
    await pool.trade({ zeroForOne: false, amountSpecified: -ONE / 10n });
    await pool.trade({ zeroForOne: true, amountSpecified: ONE / 20n });
  }
});

afterAll(async () => {
  await database?.end();
  await Promise.all([market?.stop(), created?.drop()]);
});

/** What an index has of a pool with a stop loss that was swapped with. */
async function index({ address, stopLoss }: GuardedPool): Promise<void> {
  const seeder = openSeeder(created.url);
  for (const token of [TOKEN0, TOKEN1]) await seedToken(seeder.db, { chainId: CHAIN, address: token });
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN, address, lowestBin: -2, highestBin: 2 } }]);
  const run = { position: 1, phases: ['afterSwap'], blockNumber: 1, blockTimestamp: 1 };
  const extension = { ...run, chainId: CHAIN, pool: address, address: stopLoss };
  await seeder.db.insert(onchain.poolExtension).values(extension);
  await seeder.end();
  await database.query(
    `INSERT INTO ${ONCHAIN_SCHEMA}.swap (chain_id, block_number, block_timestamp, log_index, transaction_hash, pool, sender,
       recipient, transaction_from, transaction_index, zero_for_one, amount0_raw, amount1_raw, parts)
     SELECT $1, n, 1000, 0, '0x', $2, '0x', '0x', '0x', 0, true, 1, -1, '{}' FROM generate_series(1, 5) n`,
    [CHAIN, address],
  );
}

async function tryWith(stopLossMark?: 'mid' | 'mean'): Promise<number> {
  warned.length = 0;
  await database.query("UPDATE operator.layout_calibration SET decided = NULL, decided_at = now() - interval '1 day'");
  const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY, stopLossMark };
  const deployments = [{ ...deployment, stopLoss: market.deployment.stopLoss }];
  const chain = { chainId: CHAIN, name: 'flat', rpcUrls: [market.chain.rpcUrl], blockTimeMs: 1_000, deployments };
  const [parsed] = ChainsFile.parse({ chains: [chain] }).chains;
  if (!parsed) throw new Error('no chain');
  const logger = { info: () => undefined, warn: (fields: unknown, text: unknown) => warned.push({ fields, text }) };
  const deps = { database, logger: logger as never, wallClock: () => Date.now() };
  return calibrateFactories(deps, openChainRpc(parsed, 10_000), parsed);
}

test('the mark of a stop loss is found and kept, and one that is assumed rightly is not mentioned', async () => {
  expect(await tryWith()).toBe(1);
  expect(await readCalibration(database, { chainId: CHAIN, factory: FACTORY })).toMatchObject([
    { what: 'stopLossMark', decided: 'mean' },
  ]);
  expect(warned).toEqual([]);
});

test('a wrong setting is reported with the mark that fits', async () => {
  expect(await tryWith('mid')).toBe(1);
  expect(warned).toMatchObject([{ fields: { chainId: CHAIN, factory: FACTORY, stopLossMark: 'mid', fits: 'mean' } }]);
});
