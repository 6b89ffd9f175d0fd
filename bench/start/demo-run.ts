import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startService } from '../../local/services/service-process.ts';
import type { Checkout } from './checkout.ts';

const START_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 20_000;
const LAST_LINE = 'Ctrl-C stops everything';

/** Milliseconds from `npm run demo`. */
export interface DemoTimes {
  /** Until a client's request returned 200. */
  readonly answered: number;
  readonly allUp: number;
}

/** Runs the demo of a checkout until all is up, then stops it. */
export function timeDemo({ path }: Checkout): Promise<DemoTimes> {
  return onFreePort(async (port) => {
    const startedAt = performance.now();
    const output = new PassThrough();
    const allUp = whenPrinted(output, LAST_LINE).then(() => performance.now() - startedAt);
    const demo = await startService({
      name: 'demo',
      command: 'npm',
      args: ['run', 'demo'],
      cwd: path,
      env: { ...process.env, PORT: String(port), INDEXER_PORT: '0' },
      ready: () => responds(`http://127.0.0.1:${port}/public/v1/chains`),
      startTimeoutMs: START_LIMIT_MS,
      stopTimeoutMs: STOP_LIMIT_MS,
      output,
    });
    const answered = performance.now() - startedAt;
    try {
      const ended = demo.ended.then((how) => Promise.reject(new Error(`demo: ${how}\n${demo.recentOutput()}`)));
      return { answered, allUp: await Promise.race([allUp, ended]) };
    } finally {
      await demo.stop();
    }
  });
}

export async function responds(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

async function whenPrinted(output: PassThrough, text: string): Promise<void> {
  let printed = '';
  while (!printed.includes(text)) {
    const [chunk] = await once(output, 'data');
    printed += chunk;
  }
  output.resume();
}
