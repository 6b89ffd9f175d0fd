import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, inject, test, vi } from 'vitest';
import { refreshListing } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { migrate } from '../../db/migrate.ts';
import { startReplica } from '../../devnet/postgres-replica.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { type Postgres, startPostgres } from '../../local/services/postgres.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createPoolTradingDataClient } from '../harness/http-client.ts';
import { createOnchainTables, setIndexedBlock } from '../harness/onchain-tables.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { openSeeder, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE } from './listing-fixture.ts';

const LIMIT_MS = 60_000;

const primary = startedWorld(() => startPostgres({ durable: true }));
const folder = startedWorld(() => createTempFolder('replica-test'));
const written = openWorld(async (ends) => {
  const database = ends.adopt(poolOf(primary), (pool) => pool.end());
  await migrate(primary.url);
  await createOnchainTables(database);
  await setIndexedBlock(database, { chainId: CHAIN_A, number: 1000, timestamp: Math.floor(Date.now() / 1000) });
  return { database };
});
beforeAll(() => seed(1));
/** A real streaming replica, which has replayed all of it. */
const replica = startedWorld(() => startReplica(primary));
const replayed = openWorld(async (ends) => ({
  database: ends.adopt(poolOf(replica), (pool) => pool.end()),
}));
/** An API process that reads from the replica. */
const api = openWorld(async (ends) => {
  await caughtUp();
  const chainsFile = join(folder.path, 'chains.json');
  await writeFile(chainsFile, JSON.stringify(CHAINS_FILE));
  const { url } = await onFreePort(async (port) => {
    const env = {
      CHAINS_CONFIG: chainsFile,
      REDIS_URL: inject('redisUrl'),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: primary.url,
      DATABASE_REPLICA_URL: replica.url,
      LOG_LEVEL: 'silent',
    };
    const url = `http://127.0.0.1:${port}`;
    const started = await startOwnProcess({ main: 'api', env, ready: `${url}/public/v1/chains` });
    ends.defer(started.stop);
    return { url };
  });
  return { client: createPoolTradingDataClient(url) };
});

function poolOf({ url }: Postgres): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  // Connections that die with their server are replaced by the next query.
  pool.on('error', () => undefined);
  return pool;
}

/** Adds a pool to the chain and publishes the listing again, on the primary. */
async function seed(number: number): Promise<void> {
  const seeder = openSeeder(primary.url);
  await seedToken(seeder.db, { chainId: CHAIN_A, address: TOKEN0 });
  await seedToken(seeder.db, { chainId: CHAIN_A, address: TOKEN1 });
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN_A, address: seedAddress(0x1000 + number) } }]);
  await seeder.end();
  await refreshListing({
    database: written.database,
    registry: createRegistry(CHAINS_FILE),
    findBlockAt: async (_timestamp, indexed) => indexed.number,
    fiatMaxAgeSecs: 600,
    version: 'test',
    classify: () => null,
    wallClock: () => Date.now(),
  });
}

/** Waits until the replica has replayed all that the primary has written so far. */
async function caughtUp(): Promise<void> {
  const { rows } = await written.database.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn');
  const hasReplayed = async () => {
    const done = await replayed.database.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS done', [rows[0]?.lsn]);
    expect(done.rows).toEqual([{ done: true }]);
  };
  await vi.waitFor(hasReplayed, { timeout: LIMIT_MS, interval: 100 });
}

const ask = async () => {
  const params = { path: { chain_id: CHAIN_A }, query: { minTvlFiat: 0 } };
  const { data, error, response } = await api.client.GET('/public/v1/evm/{chain_id}/metadata', { params });
  return response.status === 200 ? { status: 200, total: data?.total } : { status: response.status, error };
};

/** A page stands for a second after the database confirmed it. */
const expectSoon = (answer: object) => expect.poll(ask, { timeout: LIMIT_MS }).toEqual(answer);

test('the listing is what the replica has, not what the primary has', { timeout: 2 * LIMIT_MS }, async () => {
  expect(await ask()).toEqual({ status: 200, total: 1 });
  await replayed.database.query('SELECT pg_wal_replay_pause()');
  await seed(2);
  const { rows } = await written.database.query('SELECT pool FROM operator.pool_listing');
  expect(rows.length).toBe(2);
  expect(await ask()).toEqual({ status: 200, total: 1 });
  await replayed.database.query('SELECT pg_wal_replay_resume()');
  await caughtUp();
  await expectSoon({ status: 200, total: 2 });
});

test('it keeps serving while the primary is unreachable', { timeout: 2 * LIMIT_MS }, async () => {
  await primary.kill();
  expect(await ask()).toEqual({ status: 200, total: 2 });
  await primary.restart();
  await seed(3);
  await caughtUp();
  await expectSoon({ status: 200, total: 3 });
});

test('without the replica it is 503, and again 200 once it is back', { timeout: 2 * LIMIT_MS }, async () => {
  await replica.kill();
  await expectSoon({ status: 503, error: { error: 'Service temporarily unavailable' } });
  await replica.restart();
  await expectSoon({ status: 200, total: 3 });
});
