import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveSchema } from '../indexer/publication/live-views.ts';
import { createMigratedDatabase, type TestDatabase } from '../test/harness/database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA } from '../test/harness/onchain-tables.ts';
import { waitForIndex } from './first-index.ts';

/** So long that no poll comes in a test. */
const NEVER_MS = 3_600_000;

let home: TestDatabase;
let database: pg.Pool;
let isFound: boolean;
let stopping: AbortController;

beforeEach(async () => {
  home = await createMigratedDatabase();
  database = new pg.Pool({ connectionString: home.url, max: 3 });
  database.on('error', () => undefined);
  isFound = false;
  stopping = new AbortController();
});

afterEach(async () => {
  stopping.abort();
  await database.end();
  await home.drop();
});

/** Waits until one connection listens; resolves to the wait for the index. */
async function startWaiting(pollMs: number): Promise<{ readonly ended: Promise<void> }> {
  const ended = waitForIndex(database, stopping.signal, { pollMs }).then(() => {
    isFound = true;
  });
  await expect.poll(listeners).toBe(1);
  return { ended };
}

async function listeners(): Promise<number> {
  const { rows } = await database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND pid <> pg_backend_pid()
     AND query LIKE '%served_schema%'`,
  );
  return rows.length;
}

test('an index that readers are switched to ends the wait without a poll, and its connection', async () => {
  const { ended } = await startWaiting(NEVER_MS);
  await createOnchainTables(database);
  expect(isFound).toBe(false);
  await serveSchema(database, ONCHAIN_SCHEMA);
  await ended;
  expect(isFound).toBe(true);
  await expect.poll(listeners).toBe(0);
});

test('an index whose announcement was lost is found by a poll', async () => {
  const { ended } = await startWaiting(50);
  await createOnchainTables(database);
  await ended;
  expect(isFound).toBe(true);
});

test('a lost connection is replaced', async () => {
  const { ended } = await startWaiting(NEVER_MS);
  // Between two of its statements the connection shows another one.
  const terminate = async () => {
    const { rows } = await database.query(
      `SELECT pg_terminate_backend(pid, 30_000) AS terminated FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%served_schema%'`,
    );
    return rows;
  };
  await expect.poll(terminate).toEqual([{ terminated: true }]);
  await expect.poll(listeners).toBe(1);
  await createOnchainTables(database);
  await serveSchema(database, ONCHAIN_SCHEMA);
  await ended;
  expect(isFound).toBe(true);
});

test('a wait that is stopped ends, and one that begins with an index as well', async () => {
  const { ended } = await startWaiting(NEVER_MS);
  stopping.abort();
  await ended;
  await createOnchainTables(database);
  await waitForIndex(database, new AbortController().signal, { pollMs: NEVER_MS });
});
