import { randomBytes } from 'node:crypto';
import { type Kept, type LocalStore, storeControls } from './local-store.ts';
import { onFreePort } from './on-free-port.ts';
import { loginUrl, passwordOf } from './process-logins.ts';
import { redisBinary } from './redis-binary.ts';
import { startService } from './service-process.ts';
import { createTempFolder, keptFolder } from './temp-folder.ts';

/**
 * What a user of Redis may do who serves all processes of a deployment: names that begin with its `QUEUE_PREFIX`, and
 * no command that looks or acts beyond them. As in docker-compose.yml.
 */
export const userRules = (prefix: string): readonly string[] => `~${prefix}:* &${prefix}:* ${COMMANDS}`.split(' ');

const COMMANDS =
  '-@all +@connection +@read +@write +@pubsub +@transaction +eval +evalsha +script|exists +script|load +time -@dangerous ' +
  '+info -scan -randomkey -dbsize -function -pubsub';

/**
 * What capture's user of Redis may do: take the words of live sources that API processes share, and look whether one of
 * them reads these. As in docker-compose.yml.
 */
export const captureRules = (prefix: string): readonly string[] =>
  `~${prefix}:reads-*:source-reader &${prefix}:reads-*:words ${CAPTURE_COMMANDS}`.split(' ');

const CAPTURE_COMMANDS = '-@all +@connection -@dangerous +info +exists +subscribe +unsubscribe';

/** The URL of a Redis of ours with the login of a process: capture has one of its own. */
export const redisUrlFor = (url: string, main: string): string => (main === 'capture' ? loginUrl(url, main) : url);

export interface RedisOptions {
  /** Writes every change to disk before it answers, so that nothing is lost by a kill; off by default. */
  readonly durable?: boolean;
  /**
   * Its URL is of a user who may use names with this `QUEUE_PREFIX` alone, {@link redisUrlFor} gives that of capture;
   * by default it is of one who may do everything.
   */
  readonly prefix?: string;
  /** Keeps its data there. */
  readonly kept?: Kept | undefined;
}

export type Redis = LocalStore;

/** Logical databases, so that every user of one server can have its own number. */
export const REDIS_DATABASES = 1024;

/**
 * Starts a real Redis on a free port of the loopback interface.
 *
 * @throws ServiceError one line with a hint when this machine has no Redis
 */
export async function startRedis({ durable = false, prefix, kept }: RedisOptions = {}): Promise<Redis> {
  const command = await redisBinary();
  const folder = await (kept ? keptFolder(kept.folder) : createTempFolder('redis'));
  const password = kept?.password ?? randomBytes(16).toString('hex');
  const users = prefix === undefined ? [] : usersOf(prefix, password);
  // Others of the machine reach the port of a real service, too.
  if (kept) users.push('--user', 'default', 'on', 'nopass', '-@all', '+ping');
  const login = prefix === undefined ? '' : `${prefix}:${password}@`;
  const serveOn = (port: number, signal?: AbortSignal) =>
    startService({
      ...serverOptions({ command, folder: folder.path, port, durable, users }),
      signal,
      output: kept?.output,
    });
  try {
    const { port, service } = await onFreePort(async (port) => ({ port, service: await serveOn(port) }));
    return storeControls(service, (signal) => serveOn(port, signal), folder, {
      url: `redis://${login}127.0.0.1:${port}`,
      port,
    });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

function usersOf(prefix: string, password: string): string[] {
  const user = (name: string, secret: string) => ['--user', name, 'on', `>${secret}`];
  const capture = user('capture', passwordOf('capture', password));
  return [...user(prefix, password), ...userRules(prefix), ...capture, ...captureRules(prefix)];
}

interface RedisServer {
  readonly command: string;
  readonly folder: string;
  readonly port: number;
  readonly durable: boolean;
  readonly users: readonly string[];
}

function serverOptions({ command, folder, port, durable, users }: RedisServer) {
  const settings = {
    bind: '127.0.0.1',
    port,
    dir: folder,
    databases: REDIS_DATABASES,
    save: '',
    appendonly: durable ? 'yes' : 'no',
    appendfsync: durable ? 'always' : 'no',
    // What a queue needs: a full memory is an error, never a silent loss of a job.
    'maxmemory-policy': 'noeviction',
  };
  return {
    name: 'Redis',
    command,
    args: [...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]), ...users],
    cwd: folder,
    ready: /Ready to accept connections/,
  };
}
