import { randomBytes } from 'node:crypto';
import { type Kept, type LocalStore, storeControls } from './local-store.ts';
import { onFreePort } from './on-free-port.ts';
import { redisBinary } from './redis-binary.ts';
import { startService } from './service-process.ts';
import { createTempFolder, keptFolder } from './temp-folder.ts';

/**
 * What a user of Redis may do who serves all processes of a deployment: names that begin with its `QUEUE_PREFIX`, and no
 * command that looks or acts beyond them. As in docker-compose.yml.
 */
export const userRules = (prefix: string): readonly string[] => `~${prefix}:* &${prefix}:* ${COMMANDS}`.split(' ');

const COMMANDS =
  '-@all +@connection +@read +@write +@pubsub +@transaction +eval +evalsha +script|exists +script|load +time -@dangerous ' +
  '+info -scan -randomkey -dbsize -function -pubsub';

export interface RedisOptions {
  /** Writes every change to disk before it answers, so that nothing is lost by a kill; off by default. */
  readonly durable?: boolean;
  /** Its URL is of a user who may use names with this `QUEUE_PREFIX` alone; by default of one who may do everything. */
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
  const user = prefix === undefined ? [] : ['--user', prefix, 'on', `>${password}`, ...userRules(prefix)];
  const login = prefix === undefined ? '' : `${prefix}:${password}@`;
  const serveOn = (port: number) => startService(serverOptions(command, folder.path, port, durable, user));
  try {
    const { port, service } = await onFreePort(async (port) => ({ port, service: await serveOn(port) }));
    return storeControls(service, () => serveOn(port), folder, { url: `redis://${login}127.0.0.1:${port}`, port });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

function serverOptions(command: string, folder: string, port: number, durable: boolean, user: readonly string[]) {
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
    args: [...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]), ...user],
    cwd: folder,
    ready: /Ready to accept connections/,
  };
}
