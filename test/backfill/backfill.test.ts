import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

import { beforeAll, expect, test } from 'vitest';
import { loadChainsFile } from '../../config/load-chains.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { connectNode, request } from '../../devnet/json-rpc.ts';
import { dropSchema } from '../../indexer/backfill/drop.ts';
import { planBackfill } from '../../indexer/backfill/plan.ts';
import { assertStartBlock, followedFactories } from '../../indexer/backfill/start-block.ts';
import { writtenSchemas } from '../../indexer/publication/schema-lock.ts';
import { startedWorld } from '../harness/open-world.ts';
import { loggedBars, loggedDays, shownBars, shownDays, tvlBeyondBins } from '../indexing/candles-from-logs.ts';
import { indexerStarter, type RunningIndexer, waitUntilIndexed } from '../indexing/indexer-process.ts';
import { eventually } from '../pamm/eventually.ts';
import { backfill, type Command, startBackfillWorld } from './backfill-world.ts';
import { compareIndexes } from './index-rows.ts';

/** Six indexers start while other tests take the cores. */
const LIMIT_MS = 300_000;

const world = startedWorld(() => startBackfillWorld(20));
const startIndexer = indexerStarter();
let indexer: RunningIndexer;

beforeAll(async () => {
  await passMinutes();
  indexer = await startIndexer(world);
  await catchUp();
}, 2 * LIMIT_MS);

async function catchUp(): Promise<void> {
  const heads = await Promise.all(world.chains.map(async ({ chainId, head }) => [chainId, await head()] as const));
  await waitUntilIndexed(indexer, new Map(heads), LIMIT_MS);
}

/** Mines more blocks than may be undone, a few minutes of them. */
async function passMinutes(): Promise<void> {
  for (const { url } of world.chains) await request(url, 'anvil_mine', ['0x3c', '0x5']);
}

test('a first block after the first pool is refused, before anything is begun', { timeout: LIMIT_MS }, async () => {
  const { rows } = await world.database.query<{ block: string }>(
    'SELECT created_block_number AS block FROM live.pool WHERE chain_id = 31337 AND pool_idx = 1',
  );
  const block = Number(rows[0]?.block);
  const factories = followedFactories(loadChainsFile(world.chainsFile).chains)
    .filter(({ chainId }) => chainId === 31337)
    .map((one) => ({ ...one, startBlock: block }));
  const late = factories.map((one) => ({ ...one, startBlock: block + 1 }));
  // By the rows of the index that serves, and by the node when no index serves.
  for (const served of ['onchain_1', null]) {
    await assertStartBlock(world.database, served, factories);
    await expect(assertStartBlock(world.database, served, late)).rejects.toThrow(
      `CHAINS_CONFIG: fromBlock ${block + 1} of chain 31337 is too late`,
    );
  }
  const chainsFile = await world.writeLateChainsFile(block + 1);
  const rejected = backfill({ ...world, chainsFile }, ['--json']);
  expect(await rejected.ended).toBe(1);
  expect(rejected.stderr()).toMatch(/^CHAINS_CONFIG: fromBlock \d+ of chain 31337 is too late: the first pool .*\n$/);
  expect(rejected.stdout()).toBe('');
  expect((await world.database.query('SELECT FROM operator.backfill')).rows).toEqual([]);
});

test('killed in the middle, it continues in the same schema and ends with the same rows, and no reader notices', {
  timeout: 2 * LIMIT_MS,
}, async () => {
  const { promise: until, resolve: letThrough } = Promise.withResolvers<void>();
  world.secondNode.misbehave({ kind: 'held', until }, ({ method }) => method === 'eth_getLogs');

  const first = backfill(world, ['--chains', '31338', '--json']);
  // The first chain is written from the cache; the logs of the second one do not come.
  await eventually(async () => (await countSwaps('onchain_2', 31337)) > 0 || hasEnded(first.child), LIMIT_MS);
  expect(await countSwaps('onchain_2', 31338)).toBe(0);
  await eventually(() => waitsOf(first).has('the indexer to write the history'), LIMIT_MS);
  const beside = backfill(world, ['--json']);
  expect(await beside.ended).toBe(75);
  expect(beside.stderr()).toContain('another indexer writes schema "onchain_2"');
  first.child.kill('SIGKILL');
  expect(await first.ended).toBeNull();
  await eventually(async () => (await writtenSchemas(world.database, ['onchain_2'])).size === 0, LIMIT_MS);
  expect(await servedSchema(world.database)).toBe('onchain_1');
  const identity = await schemaIdentity('onchain_2');

  letThrough();
  world.secondNode.misbehave(null);
  let stopped = false;
  const reading = [readViews(() => stopped), readViews(() => stopped)];
  const second = backfill(world, ['--json']);
  const reader = await world.database.connect();
  await reader.query('BEGIN; SELECT FROM live.swap LIMIT 1');
  const forReaders = 'readers to leave a gap in which the views turn to the new index';
  await eventually(() => waitsOf(second).has(forReaders) || hasEnded(second.child), LIMIT_MS);
  await reader.query('COMMIT');
  reader.release();
  const exitCode = await Promise.race([second.ended, ...reading]);
  expect(exitCode, second.stderr()).toBe(0);
  // biome-ignore lint/plugin: no read of the views may fail in this time either.
  await sleep(500);
  stopped = true;
  for (const reads of await Promise.all(reading)) expect(reads).toBeGreaterThan(5);

  expect(second.lines('begin')).toMatchObject([{ schema: 'onchain_2', resumed: true, refetched: [31338] }]);
  expect(second.lines('end')).toMatchObject([{ schema: 'onchain_2', replaces: 'onchain_1', removable: ['onchain_1'] }]);
  expect(await servedSchema(world.database)).toBe('onchain_2');
  expect(await schemaIdentity('onchain_2')).toBe(identity);
  const compared = await compareIndexes(world.database, 'onchain_1', 'onchain_2');
  for (const [table, { different }] of Object.entries(compared)) expect(different, table).toBe(0);
  for (const table of ['pool', 'pool_state', 'swap', 'liquidity_change', 'pool_activity', 'token']) {
    expect(compared[table]?.rows, table).toBeGreaterThan(0);
  }
  // No capture runs here: the backfill has written the candles of its index before it turned readers to it.
  const { rows: written } = await world.database.query('SELECT DISTINCT index_schema FROM history.trade_bar');
  expect(written).toEqual([{ index_schema: 'onchain_2' }]);
  await expectLoggedCandles();
});

test('the indexer moves to the new index when it is started again, and not back by mistake', {
  timeout: LIMIT_MS,
}, async () => {
  expect(await indexer.ended).toBe('exit code 75');
  await expect(startIndexer({ ...world, schema: 'onchain_1' })).rejects.toMatchObject({
    log: expect.stringMatching(/DATABASE_SCHEMA: "onchain_1" was replaced by "onchain_2"/),
  });
  indexer = await startIndexer(world);
  const before = await countSwaps('live', 31337);
  const [chain] = world.chains;
  for (let done = 0; done < 20; done++) await chain?.traffic.step();
  await chain?.traffic.settle();
  await passMinutes();
  await catchUp();
  expect(await countSwaps('live', 31337)).toBeGreaterThan(before);
  expect(await countSwaps('live', 31337)).toBe(await countSwaps('onchain_2', 31337));
  await expectLoggedCandles();
  // Ponder calls blocks final when it sees a later one.
  await eventually(async () => (await writeTradeMinutes(world.database)) > 0, LIMIT_MS);
  await expectLoggedCandles();
});

test('what serves or is written is never dropped; what is not needed is', { timeout: LIMIT_MS }, async () => {
  const list = backfill(world, ['list', '--json']);
  expect(await list.ended).toBe(0);
  expect(JSON.parse(list.stdout())).toMatchObject([
    { name: 'onchain_1', served: false, written: false, complete: true },
    { name: 'onchain_2', served: true, written: true, complete: true },
  ]);
  await expect(dropSchema(world.database, 'onchain_2')).rejects.toThrow('another indexer writes schema "onchain_2"');
  await expect(dropSchema(world.database, 'operator')).rejects.toThrow('schema "operator" is no index');
  const request = { schema: 'onchain_2', refetch: null, fresh: true };
  await expect(planBackfill(world.database, request)).rejects.toThrow('readers are served from "onchain_2" already');
  const dropped = backfill(world, ['drop', 'onchain_1']);
  expect(await dropped.ended).toBe(0);
  expect(dropped.stdout()).toBe('dropped onchain_1\n');
  const { rows } = await world.database.query(`SELECT to_regnamespace('onchain_1') AS schema`);
  expect(rows).toEqual([{ schema: null }]);
});

/** Bars and days of every flat pool are those of its raw logs and its tokens' balances. */
async function expectLoggedCandles(): Promise<void> {
  let [final, days] = [0, 0];
  for (const { chainId, url, scenario } of world.chains) {
    const client = connectNode(url);
    for (const pool of scenario.pools) {
      const { name, address, generation } = pool;
      if (generation !== 'flat') continue;
      expect(await shownDays(world.database, chainId, address), name).toEqual(await loggedDays(client, pool));
      const { beyond, logs } = await tvlBeyondBins(client, world.database, chainId, pool);
      days += beyond.length;
      for (const units of beyond) {
        expect(units, name).toBeGreaterThanOrEqual(0n);
        expect(units, name).toBeLessThanOrEqual(BigInt(logs));
      }
      for (const secs of [60, 3_600]) {
        const shown = await shownBars(world.database, chainId, address, secs);
        expect(shown.bars, `${name} on ${chainId}`).toEqual(await loggedBars(client, address, secs));
        final += shown.final;
      }
    }
  }
  expect(final).toBeGreaterThan(0);
  expect(days).toBeGreaterThan(0);
}

/** What a run said that it waits for. */
function waitsOf({ lines }: Command): Set<unknown> {
  return new Set(lines('progress').map(({ waitingFor }) => waitingFor));
}

const hasEnded = ({ exitCode, signalCode }: { exitCode: number | null; signalCode: string | null }) =>
  exitCode !== null || signalCode !== null;

/** 0 while there is no such table. */
async function countSwaps(schema: string, chainId: number): Promise<number> {
  try {
    const sql = `SELECT count(*)::int AS n FROM ${schema}.swap WHERE chain_id = $1`;
    return (await world.database.query<{ n: number }>(sql, [chainId])).rows[0]?.n ?? 0;
  } catch (error) {
    if (error instanceof pg.DatabaseError && ['3F000', '42P01'].includes(error.code ?? '')) return 0;
    throw error;
  }
}

/** Changes when a schema is dropped and made again. */
async function schemaIdentity(schema: string): Promise<string> {
  const { rows } = await world.database.query('SELECT to_regnamespace($1)::oid::text AS id', [schema]);
  return rows[0]?.id;
}

/** Reads pools with their tokens and state in a loop; answers how often. Fails on an error or a missing row. */
async function readViews(stopped: () => boolean): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM read_model.pool p
               JOIN read_model.pool_state s ON s.chain_id = p.chain_id AND s.pool = p.address`;
  const pools = world.chains.reduce((sum, { scenario }) => sum + scenario.pools.length, 0);
  let reads = 0;
  for (; !stopped(); reads++) {
    expect((await world.database.query(sql)).rows).toEqual([{ n: pools }]);
    // biome-ignore lint/plugin: without a pause readers take as much of the processor as what they watch.
    await sleep(30);
  }
  return reads;
}
