import { onFreePort } from './free-port.ts';
import { redisBinary } from './redis-binary.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import { createTempFolder } from './temp-folder.ts';

export interface RedisOptions {
  /** Writes every change to disk before it answers, so that nothing is lost by a kill; off by default. */
  readonly durable?: boolean;
}

export interface Redis {
  readonly url: string;
  readonly port: number;
  readonly pid: () => number;
  /** Stops it and removes its data. */
  readonly stop: () => Promise<void>;
  /** Ends it as a crash would. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same port, with the same data when it is durable. */
  readonly restart: () => Promise<void>;
}

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
  const serve = (port: number) => startService(serverOptions(command, folder.path, port, durable));
  let service: ServiceProcess;
  let port: number;
  try {
    [port, service] = await onFreePort(async (candidate) => [candidate, await serve(candidate)] as const);
  } catch (error) {
    await folder.remove();
    throw error;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => service.pid,
    kill: () => service.kill(),
    stop: async () => {
      await service.stop();
      await folder.remove();
    },
    restart: async () => {
      service = await serve(port);
    },
  };
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
