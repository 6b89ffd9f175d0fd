import pg from 'pg';
import { PROCESS_ROLES } from '../../db/process-roles.ts';

const LOGINS = PROCESS_ROLES.map((role) => ({ role, login: role.replace('ptd_', '') }));

/** Bundles whose login has not their name: parts of the API in tests, and the operator's commands. */
const LOGIN_OF_MAIN: Readonly<Record<string, string>> = {
  'abuse-api': 'api',
  'pamm-api': 'api',
  ...Object.fromEntries(
    ['backfill', 'calibrate', 'curators', 'delist', 'keys', 'status'].map((name) => [name, 'operator']),
  ),
};

/**
 * Makes a login for each process of ours, as ops/postgres/logins.sh does, with the groups that migrations would make. Their
 * password is the superuser's.
 *
 * @param url of a new cluster, as its superuser
 */
export async function createLogins(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const password = client.escapeLiteral(new URL(url).password);
  await client.query(
    LOGINS.map(
      ({ role, login }) => `CREATE ROLE ${role}; CREATE ROLE ${login} LOGIN PASSWORD ${password} IN ROLE ${role}`,
    ).join(';'),
  );
  await client.end();
}

/** The superuser's URL of a database, with the login of a process in its place. Other URLs, and other processes, keep theirs. */
export function loginUrl(url: string, main: string): string {
  const changed = new URL(url);
  const name = LOGIN_OF_MAIN[main] ?? main;
  if (changed.username === 'postgres' && LOGINS.some(({ login }) => login === name)) changed.username = name;
  return changed.href;
}
