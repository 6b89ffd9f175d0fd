import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { createDatabase, createMigratedDatabase, type TestDatabase } from './database.ts';
import { createRedisDatabase } from './redis.ts';

describe('databases of a test file', () => {
  test('Postgres: two are apart, and one that is in use can be dropped', async () => {
    const [one, two] = await Promise.all([createDatabase(), createDatabase()]);
    const [first, second] = [one, two].map((each) => new pg.Client({ connectionString: each.url }));
    first?.on('error', () => undefined); // DROP ends this session on purpose.
    await Promise.all([first?.connect(), second?.connect()]);
    await first?.query('CREATE TABLE only_here (id int)');
    const seen = await second?.query("SELECT to_regclass('only_here') AS found");
    expect(seen?.rows).toEqual([{ found: null }]);
    await one.drop();
    await expect(first?.query('SELECT 1')).rejects.toThrow();
    await second?.end();
    await two.drop();
  });

  test('Postgres: one that is migrated has nothing left to run, and the privileges that migrations give', async () => {
    const copied = await createMigratedDatabase();
    expect(await migrate(copied.url)).toEqual([]);
    const made = await createDatabase();
    await migrate(made.url);
    expect(await privileges(copied)).toEqual(await privileges(made));
    await copied.drop();
    await made.drop();
  });

  test('Redis: two are apart, and drop empties only its own', async () => {
    const [one, two] = await Promise.all([createRedisDatabase(), createRedisDatabase()]);
    expect(one.url).not.toBe(two.url);
    const [first, second] = [new Redis(one.url), new Redis(two.url)];
    await first.set('key', 'one');
    expect(await second.get('key')).toBeNull();
    await second.set('key', 'two');
    await one.drop();
    expect(await first.get('key')).toBeNull();
    expect(await second.get('key')).toBe('two');
    await two.drop();
    first.disconnect();
    second.disconnect();
  });
});

/** Who may do what with a database as a whole. */
async function privileges({ url }: TestDatabase): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ acl: string }>(
    'SELECT unnest(datacl)::text AS acl FROM pg_database WHERE datname = current_database() ORDER BY 1',
  );
  await client.end();
  expect(rows.length).toBeGreaterThan(1);
  return rows.map(({ acl }) => acl);
}
