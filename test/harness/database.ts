import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** SQLSTATE. Postgres waits five seconds for sessions to end before it says so. */
const OBJECT_IN_USE = '55006';

export interface TestDatabase {
  readonly url: string;
  /** Removes it, ending the sessions that are still open. */
  readonly drop: () => Promise<void>;
}

/** An empty database of the run's Postgres, for one test file. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(`CREATE DATABASE ${name}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => drop(name) };
}

/** Sessions that are just ending are left to end: a client that is cut off meanwhile reports an error to nobody. */
async function drop(name: string): Promise<void> {
  try {
    await administer(`DROP DATABASE IF EXISTS ${name}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === OBJECT_IN_USE)) throw error;
    await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
