import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type Account, postgresAccount } from './account.ts';
import { type Kept, type LocalStore, storeControls } from './local-store.ts';
import { onFreePort } from './on-free-port.ts';
import { preparePostgres } from './postgres-binaries.ts';
import { awaitLock } from './postgres-lock.ts';
import { createLogins } from './process-logins.ts';
import { runToEnd, type ServiceOptions, type ServiceProcess, startService } from './service-process.ts';
import type { TempFolder } from './temp-folder.ts';

export interface PostgresOptions {
  /** A commit is written before it is answered, so that nothing is lost by a kill; off by default. */
  readonly durable?: boolean;
  /** Keeps its data there, safe from a power cut, too. */
  readonly kept?: Kept | undefined;
  /** Where to make the folder of temporary data, unless Postgres cannot run there; default: the usual place. */
  readonly parent?: string;
}

/** Its URL is of the database `postgres`, as its superuser. {@link createLogins} has made the others. */
export type Postgres = LocalStore;

/** Messages are matched, so they must not be translated. */
const ENVIRONMENT = { ...process.env, LC_ALL: 'C' };

/** Speed for safety: data that go with this process need not survive a power cut. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  fsync: 'off',
  full_page_writes: 'off',
  // In the data folder rather than /dev/shm, which is small in containers and would keep segments after a crash.
  dynamic_shared_memory_type: 'mmap',
  log_min_messages: 'warning',
};

/** What data that are kept have in place of {@link SETTINGS}. */
const SAFE = { fsync: 'on', full_page_writes: 'on' };

/**
 * Starts a real Postgres on a free port of the loopback interface, with an empty temporary cluster or with one that is
 * kept.
 *
 * @throws ServiceError one line that says why it cannot run here
 */
export async function startPostgres({ durable = false, kept, parent }: PostgresOptions = {}): Promise<Postgres> {
  const account = postgresAccount();
  const { bin, folder } = await preparePostgres(account, kept?.folder, parent);
  const data = join(folder.path, 'data');
  const password = kept?.password ?? randomBytes(16).toString('hex');
  try {
    if (existsSync(data)) await awaitLock(data);
    else await initialise({ bin, folder, data, password, account });
    // It recovers for as long as that takes: a kill would only make it begin again.
    const forKept = kept && { settings: SAFE, startTimeoutMs: Number.POSITIVE_INFINITY, output: kept.output };
    const serveOn = (port: number, signal?: AbortSignal) =>
      servePostgres({ bin, data, port, durable, account, signal, ...forKept });
    const { port, service } = await onFreePort(async (port) => ({ port, service: await serveOn(port) }));
    const postgres = postgresControls(service, (signal) => serveOn(port, signal), folder, { port, password });
    await createLogins(postgres.url);
    return postgres;
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** The URL of a server that runs on data that are kept; null when none does. */
export async function runningPostgres({ folder, password }: Kept): Promise<string | null> {
  const lock = await readFile(join(folder, 'data/postmaster.pid'), 'utf8').catch(() => '');
  const port = Number(lock.split('\n')[3]);
  if (!port) return null;
  const url = urlOf(port, password);
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect(); // What a killed server has left names a port, too.
    return url;
  } catch {
    return null;
  } finally {
    await client.end();
  }
}

interface NewCluster extends Pick<PostgresServer, 'bin' | 'data' | 'account'> {
  readonly folder: TempFolder;
  readonly password: string;
}

/** Makes a cluster, which is at `data` once it is whole: a killed run leaves none. */
async function initialise({ bin, folder, data, password, account }: NewCluster): Promise<void> {
  const passwordFile = join(folder.path, 'password');
  const unfinished = `${data}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) for (const path of [unfinished, passwordFile]) await chown(path, account.uid, account.gid);
  const access = ['--username=postgres', '--auth=scram-sha-256', '--pwfile', passwordFile];
  await runToEnd({
    name: 'making the data folder of Postgres',
    command: join(bin, 'initdb'),
    args: ['--pgdata', unfinished, ...access, '--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    cwd: folder.path,
    env: ENVIRONMENT,
    user: account,
  });
  await rm(passwordFile);
  await rename(unfinished, data);
}

export interface PostgresServer extends Pick<ServiceOptions, 'signal' | 'startTimeoutMs' | 'output'> {
  readonly bin: string;
  readonly data: string;
  readonly port: number;
  readonly durable: boolean;
  readonly account: Account | undefined;
  /** Settings besides the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Serves a data folder, and waits until it takes connections: a standby takes those that only read. */
export function servePostgres({
  bin,
  data,
  port,
  durable,
  account,
  settings: more,
  ...rest
}: PostgresServer): Promise<ServiceProcess> {
  const settings = Object.entries({ ...SETTINGS, synchronous_commit: durable ? 'on' : 'off', port, ...more }).flatMap(
    ([key, value]) => ['-c', `${key}=${value}`],
  );
  return startService({
    name: 'Postgres',
    command: join(bin, 'postgres'),
    args: ['-D', data, ...settings],
    cwd: data,
    env: ENVIRONMENT,
    user: account,
    ...rest,
    ready: /database system is ready to accept (read-only )?connections/,
    // "Fast": ends the sessions instead of waiting for clients to leave.
    stopSignal: 'SIGINT',
  });
}

export function postgresControls(
  first: ServiceProcess,
  serveAgain: (signal?: AbortSignal) => Promise<ServiceProcess>,
  folder: TempFolder,
  { port, password }: { readonly port: number; readonly password: string },
): Postgres {
  return storeControls(first, serveAgain, folder, { url: urlOf(port, password), port });
}

const urlOf = (port: number, password: string): string => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
