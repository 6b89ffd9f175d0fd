import { type LocalStore, storeControls } from './local-store.ts';
import { onFreePort } from './on-free-port.ts';
import { redisBinary } from './redis-binary.ts';
import { startService } from './service-process.ts';
import { createTempFolder } from './temp-folder.ts';

export interface RedisOptions {
  /** Writes every change to disk before it answers, so that nothing is lost by a kill; off by default. */
  readonly durable?: boolean;
}

export type Redis = LocalStore;

/** Logical databases, so that every user of one server can have its own number. */
export const REDIS_DATABASES = 1024;

/**
 * Starts a real Redis on a free port of the loopback interface.
 *
 * @throws ServiceError one line with a hint when this machine has no Redis
 */
export async function startRedis({ durable = false }: RedisOptions = {}): Promise<Redis> {
  const command = await redisBinary();
  const folder = await createTempFolder('redis');
  const serveOn = (port: number) => startService(serverOptions(command, folder.path, port, durable));
  try {
    const { port, service } = await onFreePort(async (port) => ({ port, service: await serveOn(port) }));
    return storeControls(service, () => serveOn(port), folder, { url: `redis://127.0.0.1:${port}`, port });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

function serverOptions(command: string, folder: string, port: number, durable: boolean) {
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
    args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]),
    cwd: folder,
    ready: /Ready to accept connections/,
  };
}
