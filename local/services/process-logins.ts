import { createHmac } from 'node:crypto';
import pg from 'pg';
import { PROCESS_ROLES, type SessionRole } from '../../db/process-roles.ts';

interface Login {
  /** The group that it is of. */
  readonly role: SessionRole;
  readonly login: string;
}

const LOGINS = PROCESS_ROLES.map((role): Login => ({ role, login: role.replace('ptd_', '') }));
/** Of people who read the data with SQL, and of the export. */
const READER: Login = { role: 'analyst', login: 'reader' };

/** Bundles whose login has not their name: parts of the API in tests, and the operator's commands. */
const LOGIN_OF_MAIN: Readonly<Record<string, string>> = {
  'abuse-api': 'api',
  'pamm-api': 'api',
  export: READER.login,
  ...Object.fromEntries(
    ['backfill', 'calibrate', 'curators', 'delist', 'keys', 'status'].map((name) => [name, 'operator']),
  ),
};

/** What logins of a database are made of. */
export interface LoginOptions {
  /** Begins their names, so that they are no others' of a shared server. */
  readonly prefix?: string;
  /** Their passwords derive from it. Default: the password of the URL. */
  readonly secret?: string;
}

/** Who knows the password of a login knows neither its owner's nor another's. */
export const passwordOf = (login: string, secret: string): string =>
  createHmac('sha256', secret).update(login).digest('hex');

const secretOf = (url: string, secret: string | undefined): string =>
  secret ?? decodeURIComponent(new URL(url).password);

/**
 * Makes a login for each process of ours, as ops/postgres/logins.sh does, with the groups that migrations would make.
 * Those that are there get their passwords again.
 *
 * @param url of the database, as a login that may make others
 */
export const createLogins = (url: string, options?: LoginOptions): Promise<void> => makeLogins(url, LOGINS, options);

/** {@link createLogins} for the login of the export, which is an analyst's. */
export const createReader = (url: string, options?: LoginOptions): Promise<void> => makeLogins(url, [READER], options);

async function makeLogins(
  url: string,
  logins: readonly Login[],
  { prefix = '', secret }: LoginOptions = {},
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('SELECT rolname AS name FROM pg_roles');
    const present = new Set(rows.map(({ name }) => name));
    const statements = logins.flatMap(({ role, login: name }) => {
      const login = `${prefix}${name}`;
      const quoted = client.escapeIdentifier(login);
      const password = client.escapeLiteral(passwordOf(login, secretOf(url, secret)));
      return [
        ...(present.has(role) ? [] : [`CREATE ROLE ${role}`]),
        ...(present.has(login) ? [] : [`CREATE ROLE ${quoted}`]),
        `ALTER ROLE ${quoted} LOGIN PASSWORD ${password}`,
        `GRANT ${role} TO ${quoted}`,
      ];
    });
    await client.query(statements.join(';'));
  } finally {
    await client.end();
  }
}

/** The URL of a database with the login of a process in place of its owner's. Processes without a login keep it. */
export function loginUrl(url: string, main: string, { prefix = '', secret }: LoginOptions = {}): string {
  const changed = new URL(url);
  const name = LOGIN_OF_MAIN[main] ?? main;
  if (![...LOGINS, READER].some(({ login }) => login === name)) return url;
  changed.username = `${prefix}${name}`;
  changed.password = passwordOf(changed.username, secretOf(url, secret));
  return changed.href;
}
