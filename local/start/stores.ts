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
import { createLogins, createReader, loginUrl, passwordOf } from '../services/process-logins.ts';
import { redisUrlFor, startRedis } from '../services/redis.ts';
import type { DataFolder } from './data-folder.ts';

/** What all names in Redis begin with. */
export const QUEUE_PREFIX = 'start';

interface Store extends Part {
  /** With the login of its owner. */
  readonly url: string;
  /** Gives the URL for the bundle of a process or a command. */
  readonly urlFor: (main: string) => string;
}

/**
 * The database of `DATABASE_URL`, or a Postgres with its data in the folder, brought to the newest schema, with a login
 * for each process.
 *
 * @param output gets what that Postgres prints
 */
export async function startDatabase(
  data: DataFolder,
  given: string | undefined,
  kept: KeepOptions,
  output: NodeJS.WritableStream,
): Promise<Store> {
  if (given) readEnvironment(['DATABASE_URL'], { DATABASE_URL: given });
  const logins = given ? { prefix: `${new URL(given).pathname.slice(1)}_`, secret: data.secret } : {};
  const settings = { folder: data.postgres, password: data.secret, output };
  const store = given
    ? { url: given, note: 'DATABASE_URL', stop: nothing }
    : await keepStore(() => startPostgres({ durable: true, kept: settings }), kept);
  try {
    await migrate(store.url, undefined, (text) => output.write(`${text}\n`));
    if (given) await createLogins(given, logins);
    await createReader(store.url, logins);
    return { ...store, urlFor: (main) => loginUrl(store.url, main, logins) };
  } catch (cause) {
    await store.stop();
    throw databaseSettingError(cause, 'DATABASE_URL') ?? cause;
  }
}

/**
 * The Redis of `REDIS_URL`, or one with its data in the folder.
 *
 * @param output gets what that Redis prints
 */
export async function startQueues(
  data: DataFolder,
  given: string | undefined,
  kept: KeepOptions,
  output: NodeJS.WritableStream | undefined,
): Promise<Store> {
  if (given) {
    (await connectGivenRedis(given)).disconnect();
    return { url: given, urlFor: () => given, note: 'REDIS_URL', stop: nothing };
  }
  // The secret is the owner's of Postgres: it is for no process to know.
  const settings = { folder: data.redis, password: passwordOf('redis', data.secret), output };
  const store = await keepStore(() => startRedis({ durable: true, prefix: QUEUE_PREFIX, kept: settings }), kept);
  return { ...store, urlFor: (main) => redisUrlFor(store.url, main) };
}

/** Makes a first Trading API key, when there is none: it cannot be read again. */
export async function issueFirstKey(url: string): Promise<string | null> {
  const { $client } = openDatabase(url, 'ptd_operator', createLogger('start', 'silent'), { max: 1 });
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
  return keepRunning(async (signal) => {
    if (store === undefined) store = await start();
    else await store.restart(signal);
    const { url, stop, recentOutput } = store;
    return { url, stop, recentOutput, note: new URL(url).host, ended: store.end() };
  }, kept);
}

const nothing = async () => undefined;
