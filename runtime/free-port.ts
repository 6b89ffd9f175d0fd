import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below 32768. Systems assign higher ports to processes that request any port, and could assign ours in the
 * seconds until the server listens.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;

const given = new Set<number>();

/** Finds a port on which no process listens now. Never returns the same port twice in a process. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (given.has(port)) continue;
    given.add(port);
    const problem = await portProblem(port, host);
    if (problem === null) return port;
    if (problem.code !== 'EADDRINUSE') throw problem;
  }
}

/** Why nothing can listen on a port now; null when it is free. */
export async function portProblem(port: number, host: string): Promise<NodeJS.ErrnoException | null> {
  try {
    const probe = createServer().listen(port, host);
    await once(probe, 'listening');
    await once(probe.close(), 'close');
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
