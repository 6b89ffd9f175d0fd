import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { threadId } from 'node:worker_threads';

/**
 * Ports below 32768. Systems assign higher ports to processes that request any port, and could assign ours in the
 * seconds until the server listens.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;

/**
 * As many processes with ids in a row, and threads of a process, have ports of their own,
 * so that none takes one that another is about to listen on.
 */
const RANGES = 64;
const RANGE_PORTS = Math.floor((LAST_PORT + 1 - FIRST_PORT) / RANGES);

const given = new Set<number>();

/** The first of the ports of a thread of a process, and how many it has. Thread 0 is the main one. */
export const portsOf = (pid: number, thread: number) => ({
  first: FIRST_PORT + ((pid + thread) % RANGES) * RANGE_PORTS,
  count: RANGE_PORTS,
});

/** Finds a port on which no process listens now. Never returns the same port twice in a thread. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const { first, count } = portsOf(process.pid, threadId);
    const isExhausted = given.size >= count;
    const port = isExhausted ? randomInt(FIRST_PORT, LAST_PORT + 1) : randomInt(first, first + count);
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
