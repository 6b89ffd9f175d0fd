import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Account, postgresAccount } from '../local/services/account.ts';
import { onFreePort } from '../local/services/on-free-port.ts';
import { type Postgres, postgresControls, servePostgres } from '../local/services/postgres.ts';
import { preparePostgres } from '../local/services/postgres-binaries.ts';

const run = promisify(execFile);

/** Files of the running server itself; what the log holds, the replica is sent. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts'];

/**
 * Starts a streaming replica of a Postgres that {@link startPostgres} started: a copy of its data folder, which follows
 * it over a connection and answers reads.
 *
 * @throws ServiceError one line that says why it cannot run here
 */
export async function startReplica(primary: Postgres): Promise<Postgres> {
  const account = postgresAccount();
  const { bin, folder } = await preparePostgres(account);
  const data = join(folder.path, 'data');
  try {
    await copyPrimary(primary.url, data);
    await writeFile(join(data, 'standby.signal'), '');
    await chmod(data, 0o700);
    if (account) await giveTo(account, data);
    const { hostname, port: primaryPort, username, password } = new URL(primary.url);
    const primary_conninfo = `host=${hostname} port=${primaryPort} user=${username} password=${password}`;
    const serveOn = (port: number) =>
      servePostgres({ bin, data, port, durable: false, account, settings: { primary_conninfo } });
    const { port, service } = await onFreePort(async (port) => ({ port, service: await serveOn(port) }));
    return postgresControls(service, () => serveOn(port), folder, { port, password });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** Copies a running server's data folder in the way that its manual calls a low-level base backup. */
async function copyPrimary(url: string, target: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    const source = rows[0]?.data_directory ?? '';
    await client.query(`SELECT pg_backup_start('replica', fast => true)`);
    await mkdir(target);
    await cp(source, target, { recursive: true, filter: (path) => isCopied(relative(source, path)) });
    const stopped = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(join(target, 'backup_label'), stopped.rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
}

const isCopied = (path: string): boolean => !NOT_COPIED.includes(path) && !path.startsWith('pg_wal/0');

async function giveTo({ uid, gid }: Account, path: string): Promise<void> {
  await run('chown', ['-R', `${uid}:${gid}`, path]);
}
