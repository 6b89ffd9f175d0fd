import { readEnvironment } from '../../config/environment.ts';
import { issueApiKey, listApiKeys } from '../../db/api-keys.ts';
import { openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { databaseSettingError } from '../../db/setting-error.ts';
import { createLogger } from '../../runtime/logger.ts';
import { type KeepOptions, keepRunning } from '../processes/keep-running.ts';
import type { Part } from '../processes/supervisor.ts';
import { connectGivenRedis } from '../services/given-redis.ts';
import type { LocalStore } from '../services/local-store.ts';
import { startPostgres } from '../services/postgres.ts';
import { createLogins, type LoginOptions, loginUrl } from '../services/process-logins.ts';
import { startRedis } from '../services/redis.ts';
import type { DataFolder } from './data-folder.ts';

export interface Database extends Part {
  /** The URL for a process or a command, with its own login. */
  readonly urlFor: (main: string) => string;
  readonly issueFirstKey: () => Promise<string | null>;
}

/** What all names in Redis begin with. */
export const QUEUE_PREFIX = 'start';

/**
 * The database of `DATABASE_URL`, or a Postgres with its data in the folder, brought to the newest schema, with a login
 * for each process.
 */
export async function startDatabase(data: DataFolder, given: string | undefined, kept: KeepOptions): Promise<Database> {
  if (given) {
    readEnvironment(['DATABASE_URL'], { DATABASE_URL: given });
    const logins = { prefix: `${new URL(given).pathname.slice(1)}_`, secret: data.secret };
    const prepared = await prepare(given, logins);
    await createLogins(given, logins);
    return { ...prepared, note: 'DATABASE_URL', stop: nothing };
  }
  const store = await keepStore(
    () => startPostgres({ durable: true, kept: { folder: data.postgres, password: data.secret } }),
    kept,
  );
  try {
    return { ...store, ...(await prepare(store.url, {})) };
  } catch (error) {
    await store.stop();
    throw error;
  }
}

/** The Redis of `REDIS_URL`, or one with its data in the folder. */
export async function startQueues(
  data: DataFolder,
  given: string | undefined,
  kept: KeepOptions,
): Promise<Part & { readonly url: string }> {
  if (given) {
    (await connectGivenRedis(given)).disconnect();
    return { url: given, note: 'REDIS_URL', stop: nothing };
  }
  const settings = { folder: data.redis, password: data.secret };
  return keepStore(() => startRedis({ durable: true, prefix: QUEUE_PREFIX, kept: settings }), kept);
}

async function prepare(url: string, logins: LoginOptions): Promise<Pick<Database, 'urlFor' | 'issueFirstKey'>> {
  try {
    await migrate(url);
    return { urlFor: (main) => loginUrl(url, main, logins), issueFirstKey: () => issueFirstKey(url) };
  } catch (cause) {
    throw databaseSettingError(cause, 'DATABASE_URL') ?? cause;
  }
}

/** Makes a first Trading API key, when there is none: it cannot be read again. */
export async function issueFirstKey(url: string): Promise<string | null> {
  const { $client } = openDatabase(url, 'ptd_operator', createLogger('start', 'silent'), 1);
  try {
    if ((await listApiKeys($client)).length > 0) return null;
    return (await issueApiKey($client, 'first key')).key;
  } finally {
    await $client.end();
  }
}

/** A store that is started again on its port, with its data, when it ends. */
function keepStore(start: () => Promise<LocalStore>, kept: KeepOptions) {
  let store: LocalStore | undefined;
  return keepRunning(async () => {
    if (store === undefined) store = await start();
    else await store.restart();
    const { url, stop, recentOutput } = store;
    return { url, stop, recentOutput, note: new URL(url).host, ended: store.end() };
  }, kept);
}

const nothing = async () => undefined;
