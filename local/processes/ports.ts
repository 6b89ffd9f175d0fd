import { z } from 'zod';
import { ConfigError } from '../../config/config-error.ts';
import { freePort, portProblem } from '../../runtime/free-port.ts';

const HOST = '127.0.0.1';

/** Ports that people type, so they are fixed; 0 takes a free one. Everything else takes free ports. */
const DEFAULT_PORTS = { PORT: 3000, INDEXER_PORT: 42069 } as const;

export interface Ports {
  readonly api: number;
  readonly indexer: number;
}

/**
 * The documented ports, or what `PORT` and `INDEXER_PORT` say, known to be free just now.
 *
 * @throws ConfigError one line that names the setting and what to do
 */
export async function readPorts(env: NodeJS.ProcessEnv): Promise<Ports> {
  return { api: await portOf('PORT', env), indexer: await portOf('INDEXER_PORT', env) };
}

async function portOf(setting: keyof typeof DEFAULT_PORTS, env: NodeJS.ProcessEnv): Promise<number> {
  const parsed = z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .safeParse(env[setting] || DEFAULT_PORTS[setting]);
  if (!parsed.success) throw new ConfigError(`${setting}: not a port number`);
  if (parsed.data === 0) return freePort();
  const cause = await portProblem(parsed.data, HOST);
  if (cause === null) return parsed.data;
  const problem = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message;
  throw new ConfigError(`port ${parsed.data} cannot be used (${problem}): set ${setting} to a free one, or to 0`, {
    cause,
  });
}
