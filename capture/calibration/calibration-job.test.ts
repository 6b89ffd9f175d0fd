import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Registry } from 'prom-client';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { ChainsFile } from '../../config/chains-schema.ts';
import { createPackedPool, type PackedPool } from '../../devnet/packed/random-pool.fixture.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import * as onchain from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { packedStoredLayout } from '../../protocol/layouts/packed/stored-layout.ts';
import { TOTAL, type TotalName } from '../../protocol/pool-totals.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openSeeder, seedToken } from '../../test/harness/seed-pools.ts';
import { observeSwapsOf, ordinaryRecipe } from '../../test/packed/observed-swaps.ts';
import { type RefreshDeps, refreshListing } from '../listing/refresh-listing.ts';
import { type CapturedSetup, CHAIN, captureStorage, startCapturedSetup } from '../packed-setup.fixture.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { readPoolValues } from '../read-schedule/pool-values.ts';
import { calibrateFactories } from './calibration-job.ts';
import { calibrationGauge } from './calibration-report.ts';
import { type FactoryKey, readCalibration, writeCalibration } from './calibration-rows.ts';

const [, variant] = PACKED_VARIANTS;

let captured: CapturedSetup;
let setup: CapturedSetup['setup'];
let database: CapturedSetup['database'];
let packedPool: PackedPool;
const shown = new Map<string, string | null>();
const metrics = new Registry();
const gauge = calibrationGauge(metrics);
const logged: { level: string; fields: unknown }[] = [];

beforeAll(async () => {
  captured = await startCapturedSetup(variant);
  ({ setup, database } = captured);
  packedPool = await createPackedPool(setup, ordinaryRecipe(6, 18));
  const { token0, token1 } = packedPool;
  const seeder = openSeeder(captured.databaseUrl);
  await seedToken(seeder.db, { chainId: CHAIN, address: token0, decimals: 6 });
  await seedToken(seeder.db, { chainId: CHAIN, address: token1 });
  await seeder.end();
  await captured.seed(packedPool);
});

afterAll(() => captured?.stop());

function chainsFile() {
  const { poolFactory, dataProvider } = setup.deployment;
  const deployment = { contractVersion: 'v1', layout: 'packed', fromBlock: 0, poolFactory, dataProvider };
  const chain = { chainId: CHAIN, name: 'packed', rpcUrls: [setup.anvil.url], blockTimeMs: 1_000 };
  return ChainsFile.parse({ chains: [{ ...chain, deployments: [deployment] }] });
}

const key = () => ({ chainId: CHAIN, factory: setup.deployment.poolFactory });

function tryAll(): Promise<number> {
  const [chain] = chainsFile().chains;
  if (!chain) throw new Error('no chain');
  const log = (level: string) => (fields: unknown) => logged.push({ level, fields });
  const deps = {
    database,
    logger: { info: log('info'), warn: log('warn') } as never,
    onCalibration: (factory: FactoryKey, what: string, decision: string | null) => {
      shown.set(what, decision);
      gauge(factory, what, decision);
    },
    wallClock: () => Date.now(),
  };
  return calibrateFactories(deps, openChainRpc(chain, 10_000), chain);
}

async function decided() {
  const rows = await readCalibration(database, key());
  return Object.fromEntries(rows.map((row) => [row.what, row.decided]));
}

/** Says that the pool has these totals since a time. */
async function seedActivity(totals: Partial<Record<TotalName, bigint>>, blockTimestamp: number): Promise<void> {
  const seeder = openSeeder(captured.databaseUrl);
  const values = (Object.keys(TOTAL) as TotalName[]).map((name) => totals[name] ?? 0n);
  const row = { chainId: CHAIN, pool: packedPool.address, blockNumber: 1, blockTimestamp };
  await seeder.db.insert(onchain.poolActivity).values({ ...row, totals: arrayLiteral(values) });
  await seeder.end();
}

/** Says that the pool was swapped with, in newer blocks each time. */
async function seedSwaps(count: number): Promise<void> {
  await database.query(
    `INSERT INTO ${ONCHAIN_SCHEMA}.swap (chain_id, block_number, block_timestamp, log_index, transaction_hash, pool, sender,
       recipient, transaction_from, transaction_index, zero_for_one, amount0_raw, amount1_raw, parts)
     SELECT $1, 1 + n + (SELECT count(*) FROM ${ONCHAIN_SCHEMA}.swap), 1000, 0, '0x', $2, '0x', '0x', '0x', 0, true, 1, -1, '{}'
     FROM generate_series(1, $3) n`,
    [CHAIN, packedPool.address, count],
  );
}

const interpretation = (name: string, contradicted: number) => ({ name, agreed: 1, contradicted, examples: [] });
const NOTHING = { decided: null, observations: 0, decisive: 0, interpretations: [interpretation('token', 1)] };

const makeDue = () =>
  database.query("UPDATE operator.layout_calibration SET decided_at = now() - interval '61 seconds'");

test('the storage of a factory is decided as soon as a pool holds something, and before that none of its pools is listed', async () => {
  const [chain] = chainsFile().chains;
  if (!chain) throw new Error('no chain');
  const registry = createRegistry(chainsFile());
  const deps = {
    database,
    registry,
    findBlockAt: async () => 0,
    fiatMaxAgeSecs: 600,
    version: 'test',
    classify: () => null,
    wallClock: () => Date.now(),
  };
  const listed = async () => {
    await refreshListing(deps);
    return (await database.query('SELECT FROM operator.listed_pool')).rowCount;
  };
  await setIndexedBlock(database, { chainId: CHAIN, number: 9, timestamp: 999_999 });
  expect(await captureStorage(database, chain)).toBe(1);
  expect(await listed()).toBe(0);
  expect(await tryAll()).toBe(0);
  expect(await decided()).toEqual({ storage: 'packedHead' });
  expect(shown.get('storage')).toBe('packedHead');
  expect(await listed()).toBe(1);
  await database.query('TRUNCATE operator.layout_calibration, operator.pool_storage, operator.listed_pool CASCADE');
  shown.clear();
});

test('a factory is tried once it has had five swaps, and again after a pause, until all is decided', async () => {
  expect(await tryAll()).toBe(0);
  expect([...shown]).toEqual(packedStoredLayout.calibrated.map((what) => [what, null]));
  await seedSwaps(4);
  expect(await tryAll()).toBe(0);
  await seedSwaps(1);
  expect(await tryAll()).toBe(1);
  const undecided = { details: null, fees: null, platformFees: null, notional: null };
  expect(await decided()).toEqual({ storage: 'packedHead', ...undecided });

  await observeSwapsOf(setup, packedPool, 12);
  expect(await tryAll()).toBe(0);
  await makeDue();
  expect(await tryAll()).toBe(1);
  const { details, fees, platformFees } = variant ?? {};
  const all = { storage: 'packedHead', details, fees, platformFees, notional: 'input' };
  expect(await decided()).toEqual(all);
  expect(Object.fromEntries(shown)).toEqual(all);
  expect(logged.at(-1)).toEqual({ level: 'info', fields: { ...key(), ...all } });
  await makeDue();
  expect(await tryAll()).toBe(0);

  const { rows } = await database.query("SELECT * FROM read_model.layout_calibration WHERE what = 'details'");
  expect(rows).toMatchObject([{ decided: details, decided_by: 'job', evidence: { observations: 12 } }]);
  expect(rows[0].evidence.interpretations[0]).toMatchObject({ name: 'flagsFirst', contradicted: 12 });
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
  expect(await captureStorage(database, chain)).toBe(1);
  const findBlockAt = async () => 0;
  const registry = createRegistry(file);
  const given = { fiatMaxAgeSecs: 600, version: 'test', classify: () => null, wallClock: () => Date.now() };
  expect(await refreshListing({ database, registry, findBlockAt, ...given })).toBe(1);
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

test('pools whose storage no arrangement explains are neither read nor listed, until one does again', async () => {
  const file = chainsFile();
  const [chain] = file.chains;
  if (!chain) throw new Error('no chain');
  const registry = createRegistry(file);
  const deps: RefreshDeps = {
    database,
    registry,
    findBlockAt: async () => 0,
    fiatMaxAgeSecs: 600,
    version: 'test',
    classify: () => null,
    wallClock: () => Date.now(),
  };
  const listed = async () => {
    await captureStorage(database, chain);
    await refreshListing(deps);
    const { rows } = await database.query('SELECT pool FROM operator.listed_pool');
    return [rows.length, (await readPoolValues(database, chain)).length];
  };
  const unreadable = async () => (await metrics.getSingleMetric('factory_unreadable')?.get())?.values[0]?.value;
  const calibrateAgain = async () => {
    await database.query("UPDATE operator.layout_calibration SET decided = NULL WHERE what = 'fees'");
    await database.query("UPDATE operator.layout_calibration SET decided_at = now() - interval '1 hour'");
    return tryAll();
  };
  expect(await listed()).toEqual([1, 1]);
  expect(await unreadable()).toBe(0);
  const { client } = setup.chain;
  const { address } = packedPool;
  const totals = (await client.getStorageAt({ address, slot: '0x1' })) ?? '0x';
  await client.setStorageAt({ address, index: 1, value: numberToHex(BigInt(totals) + 1n, { size: 32 }) });
  expect(await calibrateAgain()).toBe(1);
  expect((await decided()).storage).toBe('none');
  expect(logged.at(-1)).toMatchObject({ level: 'warn', fields: { ...key(), storage: 'none' } });
  expect(await unreadable()).toBe(1);
  expect(await listed()).toEqual([0, 0]);

  await client.setStorageAt({ address, index: 1, value: totals });
  expect(await calibrateAgain()).toBe(1);
  expect((await decided()).storage).toBe('packedHead');
  expect(await unreadable()).toBe(0);
  expect(await listed()).toEqual([1, 1]);
});

test('a decision stands when a later try is not certain, falls when it is contradicted; the operator decides over the job', async () => {
  const finding = (name: string | null, contradicted: number) => ({
    what: 'fees',
    decided: name,
    observations: 1,
    decisive: 0,
    interpretations: [interpretation('kind', contradicted), interpretation('token', 0)],
  });
  await writeCalibration(database, key(), [finding(null, 0)], 'job');
  expect((await decided()).fees).toBe('kind');
  await writeCalibration(database, key(), [finding(null, 1)], 'job');
  expect((await decided()).fees).toBeNull();
  await writeCalibration(database, key(), [finding('token', 0)], 'operator');
  await writeCalibration(database, key(), [finding('kind', 0)], 'job');
  expect((await decided()).fees).toBe('token');
});

test('the command says what agrees and what does not, and writes when asked', async () => {
  const folder = await createTempFolder('calibrate');
  const CHAINS_CONFIG = join(folder.path, 'chains.json');
  await writeFile(CHAINS_CONFIG, JSON.stringify(chainsFile()));
  const run = (...parameters: string[]) =>
    execa('node', [...ownMain('calibrate'), '--chain', String(CHAIN), ...parameters], {
      env: ownEnvironment('calibrate', { CHAINS_CONFIG, DATABASE_URL: captured.databaseUrl }),
      reject: false,
    });
  const { factory } = key();
  await writeCalibration(database, key(), [{ ...NOTHING, what: 'fees' }], 'operator');
  const few = await run('--factory', factory, '--swaps', '3', '--json');
  expect(JSON.parse(few.stdout).findings[1]).toMatchObject({ what: 'details', decided: null, observations: 3 });
  expect([few.exitCode, (await decided()).fees]).toEqual([0, null]);
  const { exitCode, stdout, stderr } = await run('--factory', factory, '--write');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^storage: packedHead \(1 observations, 0 distinguish interpretations\)\n {2}packedHead: 1 agree, 0 con/,
  );
  expect(stdout).toMatch(/\nfees: kind \(12 obs[^\n]+\n {2}token: 0 agree, 12 contradict\n {4}0x[^\n]+@\d+\n/);
  expect(stdout).toMatch(/All is decided\. Stored\.$/);
  expect((await decided()).fees).toBe('kind');
  await folder.remove();
});
