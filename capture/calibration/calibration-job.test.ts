import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { ChainsFile } from '../../config/chains-schema.ts';
import { migrate } from '../../db/migrate.ts';
import {
  createPackedPool,
  type PackedGround,
  type PackedPool,
  startPackedGround,
} from '../../devnet/packed/random-pool.fixture.ts';
import { readPackedState } from '../../devnet/packed/storage.fixture.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import type { Anvil } from '../../devnet/services/anvil.ts';
import { ownMain } from '../../devnet/services/own-process.ts';
import { createTempFolder } from '../../devnet/services/temp-folder.ts';
import * as onchain from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/reducers/number-list.ts';
import { CALIBRATED } from '../../protocol/layouts/packed/calibration/calibrate.ts';
import { TOTAL, type TotalName } from '../../protocol/pool-totals.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openSeeder, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { observeSwapsOf, ordinaryRecipe } from '../../test/packed/observed-swaps.ts';
import { createListingRefresh } from '../listing/refresh-listing.ts';
import { capturePoolStorage } from '../pool-storage/capture-storage.ts';
import { compareBins } from '../pool-storage/compare-with-events.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { calibrateFactories } from './calibration-job.ts';
import { readCalibration, writeCalibration } from './calibration-rows.ts';

const CHAIN = 31_337;
const [, variant] = PACKED_VARIANTS;

let ground: PackedGround & { readonly anvil: Anvil };
let testDatabase: TestDatabase;
let database: pg.Pool;
let packedPool: PackedPool;
const shown = new Map<string, boolean>();
const logged: { level: string; fields: unknown }[] = [];

beforeAll(async () => {
  if (!variant) throw new Error('no variant');
  [ground, testDatabase] = await Promise.all([startPackedGround(variant), createDatabase()]);
  database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
  database.on('error', () => undefined); // Dropping the database ends its sessions.
  await migrate(testDatabase.url);
  await createOnchainTables(database);
  packedPool = await createPackedPool(ground, ordinaryRecipe(6, 18));
  const { address, token0, token1 } = packedPool;
  const { multiplier0, multiplier1 } = tokenScale(6, 18);
  const seeder = openSeeder(testDatabase.url);
  await seedToken(seeder.db, { chainId: CHAIN, address: token0, decimals: 6 });
  await seedToken(seeder.db, { chainId: CHAIN, address: token1 });
  const scale = { token0ScaleMultiplier: multiplier0, token1ScaleMultiplier: multiplier1 };
  const bins = { lowestBin: -3, highestBin: 3 };
  const factory = ground.deployment.poolFactory;
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN, address, factory, token0, token1, ...scale, ...bins } }]);
  await seeder.end();
});

afterAll(async () => {
  await database?.end();
  await Promise.all([ground?.anvil.stop(), testDatabase?.drop()]);
});

function chainsFile() {
  const { poolFactory, dataProvider } = ground.deployment;
  const deployment = { contractVersion: 'v1', layout: 'packed', fromBlock: 0, poolFactory, dataProvider };
  const chain = { chainId: CHAIN, name: 'packed', rpcUrls: [ground.anvil.url], blockTimeMs: 1_000 };
  return ChainsFile.parse({ chains: [{ ...chain, deployments: [deployment] }] });
}

const key = () => ({ chainId: CHAIN, factory: ground.deployment.poolFactory });

function tryAll(): Promise<number> {
  const [chain] = chainsFile().chains;
  if (!chain) throw new Error('no chain');
  const log = (level: string) => (fields: unknown) => logged.push({ level, fields });
  const deps = {
    database,
    logger: { info: log('info'), warn: log('warn') } as never,
    onCalibration: (_: unknown, what: string, isDecided: boolean) => shown.set(what, isDecided),
  };
  return calibrateFactories(deps, openChainRpc(chain, 10_000), chain);
}

async function decided() {
  const rows = await readCalibration(database, key());
  return Object.fromEntries(rows.map((row) => [row.what, row.decided]));
}

/** Says that the pool has these totals since a time. */
async function seedActivity(totals: Partial<Record<TotalName, bigint>>, blockTimestamp: number): Promise<void> {
  const seeder = openSeeder(testDatabase.url);
  const values = (Object.keys(TOTAL) as TotalName[]).map((name) => totals[name] ?? 0n);
  const row = { chainId: CHAIN, pool: packedPool.address, blockNumber: 1, blockTimestamp };
  await seeder.db.insert(onchain.poolActivity).values({ ...row, totals: arrayLiteral(values) });
  await seeder.end();
}

const reading = (name: string, contradicted: number) => ({ name, agreed: 1, contradicted, examples: [] });
const NOTHING = { decided: null, observations: 0, decisive: 0, readings: [reading('token', 1)] };

const makeDue = () =>
  database.query("UPDATE operator.layout_calibration SET decided_at = now() - interval '61 seconds'");

test('a factory is tried once it has had five swaps, and again after a pause, until all is decided', async () => {
  expect(await tryAll()).toBe(0);
  expect([...shown]).toEqual(CALIBRATED.map((what) => [what, false]));
  await seedActivity({ swapCount: 5n }, 1_000);
  expect(await tryAll()).toBe(1);
  const simulation = variant?.simulation;
  const undecided = { details: null, deltaScale: null, fees: null, platformFees: null, notional: null };
  expect(await decided()).toEqual({ storage: 'packedHead', simulation, ...undecided });

  await observeSwapsOf(ground, packedPool, 12);
  expect(await tryAll()).toBe(0);
  await makeDue();
  expect(await tryAll()).toBe(1);
  const { details, deltaScale, fees, platformFees } = variant ?? {};
  const all = { storage: 'packedHead', simulation, details, deltaScale, fees, platformFees, notional: 'input' };
  expect(await decided()).toEqual(all);
  expect([...shown]).toEqual(CALIBRATED.map((what) => [what, true]));
  expect(logged.at(-1)).toEqual({ level: 'info', fields: { ...key(), ...all } });
  await makeDue();
  expect(await tryAll()).toBe(0);

  const { rows } = await database.query("SELECT * FROM read_model.layout_calibration WHERE what = 'details'");
  expect(rows).toMatchObject([{ decided: details, decided_by: 'job', evidence: { observations: 12 } }]);
  expect(rows[0].evidence.readings[0]).toMatchObject({ name: 'flagsFirst', contradicted: 12 });
});

test('with that, and its storage, a pool is listed with liquidity, cursor and the fees of the day', async () => {
  const file = chainsFile();
  const [chain] = file.chains;
  if (!chain) throw new Error('no chain');
  const toTs = 1_000_000;
  await setIndexedBlock(database, { chainId: CHAIN, number: 10, timestamp: toTs });
  await seedActivity({ swapCount: 12n, saleBinFeesHigh: 5n * 10n ** 18n, salePlatformFeesHigh: 10n ** 18n }, toTs - 10);
  for (const token of [packedPool.token0, packedPool.token1]) {
    await database.query("INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now())", [CHAIN, token]);
  }
  expect(await capturePoolStorage(database, openChainRpc(chain, 10_000), chain)).toBe(1);
  const findBlockAt = async () => 0;
  const registry = createRegistry(file);
  const ages = { fiatMaxAgeSecs: 600, statusMaxAgeSecs: 60 };
  expect(await createListingRefresh({ database, registry, findBlockAt, ...ages })()).toBe(1);
  const { rows } = await database.query(
    `SELECT record::json->>'curBinIdx' AS bin, cur_bin_idx::text AS expected, analytics::json AS analytics,
            div(total0_scaled, 10::numeric ^ 12)::text AS raw0, total1_scaled::text AS raw1
     FROM operator.listed_pool JOIN operator.pool_storage USING (chain_id, pool)`,
  );
  const [{ bin, expected, analytics, raw0, raw1 }] = rows;
  expect(bin).toBe(expected);
  expect([analytics.token0.liquidityRaw, analytics.token1.liquidityRaw]).toEqual([raw0, raw1]);
  expect(analytics.feesFiat).toBe(6);
  expect(analytics.tvlFiat).toBeGreaterThan(0);
  expect(analytics.aprBps).toBeGreaterThan(0);
});

test('once deltas are known to be scaled, bins by events are held against storage', async () => {
  const unlike = new Map<number, number>();
  const compare = () =>
    compareBins({ file: chainsFile(), database, onBinsCompared: (id, pools) => unlike.set(id, pools) });
  const { address } = packedPool;
  const bins = [-3, -2, -1, 0, 1, 2, 3];
  const state = await readPackedState(ground.chain, address, bins);
  const put = (balances0: readonly bigint[]) =>
    database.query(
      `UPDATE ${ONCHAIN_SCHEMA}.pool_state SET lowest_bin = -3, bin_balances0_scaled = $1::numeric[],
       bin_balances1_scaled = $2, bin_swap_deltas0 = $3, bin_swap_deltas1 = $3`,
      [balances0, [...state.bins.values()].map(({ balance1 }) => balance1), bins.map(() => 0n)],
    );
  const balances0 = [...state.bins.values()].map(({ balance0 }) => balance0);
  await put(balances0.map((balance, index) => (index === 0 ? balance + 1n : balance)));
  // The index is not yet where the storage was read.
  expect(await compare()).toBe(0);
  await setIndexedBlock(database, { chainId: CHAIN, number: 1_000_000, timestamp: 1_000_000 });
  expect([await compare(), unlike.get(CHAIN)]).toEqual([1, 1]);
  await put(balances0);
  expect([await compare(), unlike.get(CHAIN)]).toEqual([0, 0]);
});

test('a decision stands when a later try is not certain, falls when it is contradicted; the operator decides over the job', async () => {
  const finding = (name: string | null, contradicted: number) => ({
    ...{ what: 'fees', decided: name, observations: 1, decisive: 0 },
    readings: [reading('kind', contradicted), reading('token', 0)],
  });
  await writeCalibration(database, key(), [finding(null, 0)], 'job');
  expect((await decided()).fees).toBe('kind');
  await writeCalibration(database, key(), [finding(null, 1)], 'job');
  expect((await decided()).fees).toBeNull();
  await writeCalibration(database, key(), [finding('token', 0)], 'operator');
  await writeCalibration(database, key(), [finding('kind', 0)], 'job');
  expect((await decided()).fees).toBe('token');
});

test('the command says what agrees and what does not, and writes when it is told to', async () => {
  const folder = await createTempFolder('calibrate');
  const CHAINS_CONFIG = join(folder.path, 'chains.json');
  await writeFile(CHAINS_CONFIG, JSON.stringify(chainsFile()));
  const run = (...parameters: string[]) =>
    execa('node', [...ownMain('cli/calibrate.ts'), '--chain', String(CHAIN), ...parameters], {
      ...{ env: { CHAINS_CONFIG, DATABASE_URL: testDatabase.url }, reject: false },
    });
  const { factory } = key();
  await writeCalibration(database, key(), [{ ...NOTHING, what: 'fees' }], 'operator');
  const few = await run('--factory', factory, '--swaps', '3', '--json');
  expect(JSON.parse(few.stdout).findings[2]).toMatchObject({ what: 'details', decided: null, observations: 3 });
  expect([few.exitCode, (await decided()).fees]).toEqual([0, null]);
  const { exitCode, stdout, stderr } = await run('--factory', factory, '--write');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^storage: packedHead \(1 observations, 0 tell readings apart\)\n {2}packedHead: 1 agree, 0 con/,
  );
  expect(stdout).toMatch(/\nfees: kind \(12 obs[^\n]+\n {2}token: 0 agree, 12 contradict\n {4}0x[^\n]+@\d+: bin /);
  expect(stdout).toMatch(/All is decided\. Stored\.$/);
  expect((await decided()).fees).toBe('kind');
  await folder.remove();
});
