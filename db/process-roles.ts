import { loadStatement } from './load-statement.ts';
import type { Queryable } from './transaction.ts';

/** Group roles of the processes and of the operator's commands. `migrations/0004_process_roles.sql` makes them. */
export const PROCESS_ROLES = ['ptd_indexer', 'ptd_capture', 'ptd_api', 'ptd_builders', 'ptd_operator'] as const;

export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** Roles that a session may act as. `analyst` reads the read model and writes nothing. */
export type SessionRole = ProcessRole | 'analyst';

/**
 * Adds settings of each session to a URL, `-c name=value …`. Settings that the URL already has come last and win.
 *
 * @param url `postgres://` URL
 */
export function withOptions(url: string, options: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', `${options} ${changed.searchParams.get('options') ?? ''}`.trim());
  return changed.href;
}

/**
 * Postgres ends sessions of a machine that is gone after 20 s, by default after two hours.
 * Until then such a session holds its locks: that of an index, of the listing, or of migrations.
 */
export const KEEP_ALIVE = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=5';

/**
 * Makes the sessions of a URL act as a group role from their first statement on, whatever else their login may do.
 * Postgres rejects a login that is not a member of the group.
 */
export const actAs = (url: string, role: SessionRole): string => withOptions(url, `-c role=${role} ${KEEP_ALIVE}`);

const roles = loadStatement<{ readonly role: ProcessRole }>('./roles-of-login.sql', import.meta.url);

/** The groups that the login of a connection may act as: all for a superuser, none before migrations have made them. */
export async function rolesOfLogin(database: Queryable): Promise<ProcessRole[]> {
  const rows = await roles(database, [PROCESS_ROLES]);
  return rows.map(({ role }) => role);
}
