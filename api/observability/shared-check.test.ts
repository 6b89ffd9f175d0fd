import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { sharedCheck } from './shared-check.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  await pool.query('CREATE SEQUENCE asked');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const timesAsked = async (): Promise<number> => {
  const { rows } = await pool.query<{ times: string }>(
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS times FROM asked',
  );
  return Number(rows[0]?.times);
};

test('however many ask, the database is asked once a second', async () => {
  let now = 5_000;
  const check = sharedCheck(
    async () => pool.query("SELECT nextval('asked')").then(() => null),
    () => now,
  );
  const askOften = () => Promise.all(Array.from({ length: 200 }, check));
  expect(new Set(await askOften())).toEqual(new Set([null]));
  now += 999;
  await askOften();
  expect(await timesAsked()).toBe(1);
  now += 1;
  await askOften();
  expect(await timesAsked()).toBe(2);
});

test('a failure stands no longer than any other answer', async () => {
  let now = 0;
  let statement = 'SELECT nonsense';
  const check = sharedCheck(
    async () => pool.query(statement).then(() => null),
    () => now,
  );
  await expect(check()).rejects.toThrow('nonsense');
  await expect(check()).rejects.toThrow('nonsense');
  statement = 'SELECT 1';
  now = 1_000;
  expect(await check()).toBeNull();
});
