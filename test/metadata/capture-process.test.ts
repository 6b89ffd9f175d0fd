import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createOnchainTables, setIndexedBlock } from '../harness/onchain-tables.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { FACTORY, openSeeder, seedPools, seedToken, TOKEN0, TOKEN1 } from '../harness/seed-pools.ts';

const LIMIT_MS = 90_000;

const postgres = startedWorld(startPostgres);
const folder = startedWorld(() => createTempFolder('capture-process'));
/** `silentPort`: a node that takes connections and answers nothing. */
const world = openWorld(async (ends) => {
  const database = ends.adopt(new pg.Pool({ connectionString: postgres.url, max: 2 }), (pool) => pool.end());
  database.on('error', () => undefined);
  const unanswered: Socket[] = [];
  const silent = createServer((socket) => unanswered.push(socket)).listen(0, '127.0.0.1');
  ends.defer(() => {
    for (const socket of unanswered) socket.destroy();
    silent.close();
  });
  await once(silent, 'listening');
  return { database, silentPort: (silent.address() as AddressInfo).port };
});

/** One pool of a chain whose node refuses, and a chain without pools whose node hangs. */
async function seed(): Promise<void> {
  await migrate(postgres.url);
  await createOnchainTables(world.database);
  const timestamp = Math.floor(Date.now() / 1000);
  for (const chainId of [5, 6]) await setIndexedBlock(world.database, { chainId, number: 100, timestamp });
  const seeder = openSeeder(postgres.url);
  await seedToken(seeder.db, { chainId: 5, address: TOKEN0 });
  await seedToken(seeder.db, { chainId: 5, address: TOKEN1 });
  await seedPools(seeder.db, [{ pool: { chainId: 5, address: FACTORY } }]);
  await seeder.end();
}

const listed = async (): Promise<number> => {
  const { rows } = await world.database.query<{ n: number }>('SELECT count(*)::int AS n FROM operator.pool_listing');
  return rows[0]?.n ?? 0;
};

const until = (condition: () => Promise<boolean>) =>
  vi.waitUntil(() => condition().catch(() => false), { timeout: LIMIT_MS, interval: 100 });

test('starts before there is anything to read, lists although nodes are unreachable or hang, and outlives the database', {
  timeout: 4 * LIMIT_MS,
}, async () => {
  const chainsFile = join(folder.path, 'chains.json');
  const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY };
  const chain = { blockTimeMs: 1000, deployments: [deployment] };
  const chains = [
    { ...chain, chainId: 5, name: 'five', rpcUrls: ['http://127.0.0.1:1'] },
    { ...chain, chainId: 6, name: 'six', rpcUrls: [`http://127.0.0.1:${world.silentPort}`] },
  ];
  await writeFile(chainsFile, JSON.stringify({ chains }));
  const capture = await onFreePort(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const env = { CHAINS_CONFIG: chainsFile, DATABASE_URL: postgres.url, PORT: String(port), HOST: '127.0.0.1' };
    return { url, ...(await startOwnProcess({ main: 'capture', env, ready: `${url}/health` })) };
  });
  try {
    expect((await fetch(`${capture.url}/ready`)).status).toBe(503);
    await seed();
    await until(async () => (await listed()) === 1);
    await postgres.kill();
    await postgres.restart();
    // A round of capture may hold a table that this waits for, and wait for another: then one of the two is refused.
    await until(async () => {
      await world.database.query('DROP SCHEMA IF EXISTS operator, read_model, history, live, onchain_test CASCADE');
      return true;
    });
    await seed();
    await until(async () => (await listed()) === 1);
    // Each kind of work forgets its failure with its own next round.
    await vi.waitFor(
      async () => {
        const ready = (await (await fetch(`${capture.url}/ready`)).json()) as { failures: Record<string, string> };
        expect(Object.keys(ready.failures).sort()).toEqual(['price-health-others-5', 'transfers-others-5']);
      },
      { timeout: LIMIT_MS, interval: 200 },
    );
  } finally {
    await capture.stop();
  }
});
