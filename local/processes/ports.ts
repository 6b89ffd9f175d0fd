import { z } from 'zod';
import { ConfigError } from '../../config/config-error.ts';
import { freePort, portProblem } from '../../runtime/free-port.ts';
import { listenError } from '../../runtime/listen-error.ts';

const LOOPBACK = '127.0.0.1';

/** Ports that people type, so they are fixed; 0 takes a free one. Everything else takes free ports. */
const DEFAULT_PORTS = { PORT: 3000, INDEXER_PORT: 4206 } as const;

export interface Ports {
  readonly api: number;
  readonly indexer: number;
}

/**
 * The documented ports, or what `PORT` and `INDEXER_PORT` say, known to be free just now.
 *
 * @param host of the API
 * @throws ConfigError one line that names the setting and what to do
 */
export async function readPorts(env: NodeJS.ProcessEnv, host: string = LOOPBACK): Promise<Ports> {
  // The processes would get it, too, and the API would never be seen to be up.
  if (env.OPERATIONS_PORT) throw new ConfigError('OPERATIONS_PORT is set: here PORT has /health, /ready and /metrics');
  return { api: await portOf('PORT', env, host), indexer: await portOf('INDEXER_PORT', env, LOOPBACK) };
}

async function portOf(setting: keyof typeof DEFAULT_PORTS, env: NodeJS.ProcessEnv, host: string): Promise<number> {
  const parsed = z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .safeParse(env[setting] || DEFAULT_PORTS[setting]);
  if (!parsed.success) throw new ConfigError(`${setting}: not a port number`);
  const port = parsed.data;
  const cause = await portProblem(port, host);
  if (cause?.code === 'EADDRINUSE') {
    throw new ConfigError(`port ${port} cannot be used (it is in use): set ${setting} to a free one, or to 0`, {
      cause,
    });
  }
  if (cause) throw listenError(setting, host, port, cause);
  return port === 0 ? freePort(host) : port;
}
