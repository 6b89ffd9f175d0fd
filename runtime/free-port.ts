import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to whoever asks for any, from 32768 on: nobody is given it in the seconds until the
 * server listens.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;

const given = new Set<number>();

/** A port on which no process listens just now, and that this process was not given before. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (given.has(port) || !(await isFree(host, port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(host: string, port: number): Promise<boolean> {
  const probe = createServer().listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
