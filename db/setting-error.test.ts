import pg from 'pg';
import { expect, test } from 'vitest';
import { ConfigError } from '../config/config-error.ts';
import { loginUrl } from '../local/services/process-logins.ts';
import { createLogger } from '../runtime/logger.ts';
import { createDatabase } from '../test/harness/database.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { openDatabase } from './connection.ts';
import { actAs, withOptions } from './process-roles.ts';
import { assertDatabaseLogin, databaseSettingError } from './setting-error.ts';

const database = startedWorld(createDatabase);
/** What a query on the database of a URL fails with. */
async function failureOn(url: string, sql = 'SELECT 1'): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
  } catch (error) {
    return error;
  } finally {
    await client.end().catch(() => undefined); // It may never have connected.
  }
  throw new Error('the query did not fail');
}

const changed = (change: Partial<Record<'username' | 'password' | 'pathname' | 'host', string>>) =>
  Object.assign(new URL(database.url), change).href;

test.each([
  ['a wrong password', { password: 'wrong' }, 'password authentication failed for user "postgres"', 1],
  ['no password', { password: '' }, 'the database asks for a password', 1],
  ['a database that does not exist', { pathname: '/nowhere' }, 'database "nowhere" does not exist', 1],
  [
    'an unreachable server',
    { host: '127.0.0.1:1' },
    'the database is unreachable (connect ECONNREFUSED 127.0.0.1:1)',
    75,
  ],
  ['every address of a host', { host: 'localhost:1' }, 'the database is unreachable (connect ECONNREFUSED ', 75],
])('%s is reported in one line', async (_name, change, text, exitCode) => {
  const error = databaseSettingError(await failureOn(changed(change)), 'DATABASE_URL');
  expect(error).toMatchObject({ message: expect.stringContaining(`DATABASE_URL: ${text}`), exitCode });
  expect(error?.message).not.toContain('\n');
});

test('a database without our tables asks to be migrated, a wrong query is no fault of the setting', async () => {
  const missing = databaseSettingError(await failureOn(database.url, 'TABLE operator.api_key'), 'DATABASE_URL');
  expect(missing).toMatchObject({ message: expect.stringContaining('npm run migrate'), exitCode: 75 });
  expect(databaseSettingError(await failureOn(database.url, 'SELECT 1/0'), 'DATABASE_URL')).toBeNull();
  const file = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' });
  expect(databaseSettingError(file, 'DATABASE_URL')).toBeNull();
  const other = new ConfigError('CHAINS_CONFIG: cannot read it', { cause: file });
  expect(databaseSettingError(other, 'DATABASE_URL')).toBe(other);
});

test('a login that may not act as its process, and a group that no migration has made, are reported', async () => {
  const login = loginUrl(database.url, 'capture');
  const refused = databaseSettingError(await failureOn(actAs(login, 'ptd_api')), 'DATABASE_URL');
  expect(refused).toMatchObject({ message: 'DATABASE_URL: permission denied to set role "ptd_api"', exitCode: 1 });
  const missing = databaseSettingError(await failureOn(withOptions(login, '-c role=ptd_none')), 'DATABASE_URL');
  expect(missing).toMatchObject({ message: expect.stringContaining('npm run migrate'), exitCode: 75 });
});

test('a start fails with a wrong login, and continues without the database', async () => {
  const start = async (url: string) => {
    const { $client } = openDatabase(url, 'ptd_api', createLogger('test', 'silent'), { max: 1 });
    await assertDatabaseLogin($client, 'DATABASE_REPLICA_URL').finally(() => $client.end());
  };
  await expect(start(changed({ password: 'wrong' }))).rejects.toThrow('DATABASE_REPLICA_URL: password authentication');
  await start(changed({ host: '127.0.0.1:1' }));
  await start(database.url);
});
