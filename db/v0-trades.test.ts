import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createTempFolder } from '../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { createDatabase } from '../test/harness/database.ts';
import { createOnchainTables, publishLiveViews } from '../test/harness/onchain-tables.ts';
import { openWorld } from '../test/harness/open-world.ts';
import { migrate } from './migrate.ts';

const MIGRATIONS = `${PROJECT_ROOT}migrations`;
const V0_FILE = '0028_v0_trades.sql';

const world = openWorld(async (ends) => {
  const database = ends.adopt(await createDatabase(), ({ drop }) => drop());
  const before = ends.adopt(await createTempFolder('migrations'), ({ remove }) => remove());
  for (const name of await readdir(MIGRATIONS))
    if (name < V0_FILE) await copyFile(join(MIGRATIONS, name), join(before.path, name));
  await migrate(database.url, before.path);
  const opened = ends.adopt(new pg.Client({ connectionString: database.url }), (each) => each.end());
  await opened.connect();
  return { client: opened, url: database.url };
});

test('readers of an index of before v0 keep their trades and days when the release changes', async () => {
  const { client, url } = world;
  await createOnchainTables(client);
  await client.query('DROP VIEW live.v0_pool, live.v0_swap');
  await migrate(url);
  await client.query('SET ROLE analyst');
  for (const view of ['dex_trades', 'pool_day'])
    expect((await client.query(`SELECT FROM read_model.${view}`)).rows).toEqual([]);
  await client.query('RESET ROLE');
  // The views are the indexer's, which replaces them.
  await publishLiveViews(client);
  expect((await client.query('SELECT FROM live.v0_swap')).rows).toEqual([]);
});
