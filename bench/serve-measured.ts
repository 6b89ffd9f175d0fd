import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Hono } from 'hono';
import { startServer } from '../runtime/http-server.ts';
import { runMain } from '../runtime/run-main.ts';
import type { HeldMemory } from './measured-process.ts';

/** An app, or the port of a server that runs already. */
type Served = Parameters<typeof startServer>[0] | number;

const HOST = '127.0.0.1';

/**
 * The other end of `startMeasuredScript`: serves these apps, and what memory the process holds, until it is stopped.
 */
export function serveMeasured<Task>(open: (task: Task) => Promise<readonly Served[]>): void {
  runMain(async () => {
    const memory = new Hono().get('/', (c) => c.json(heldMemory()));
    const served = [memory, ...(await open(JSON.parse(process.env.BENCH_TASK ?? 'null')))];
    const portOf = async (app: Served) => (typeof app === 'number' ? app : (await startServer(app, HOST, 0)).port);
    const ports = await Promise.all(served.map(portOf));
    process.stdout.write(`${ports.join(' ')}\n`);
    process.on('SIGTERM', () => process.exit(0));
  });
}

export const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
};

function heldMemory(): HeldMemory {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapUsed, external, rss };
}
