import type { z } from 'zod';
import { type MeasuredScript, startMeasuredScript } from '../measured-process.ts';
import type { Task } from './server.ts';

export interface QuoteServer extends Omit<MeasuredScript, 'url' | 'urls'> {
  /** The chain's routes, without limits. */
  readonly api: string;
  /** The same with limits, counted in Redis. */
  readonly limited: string;
  /** A Hono route that sends what was put there, at each path. */
  readonly bare: string;
}

/** Starts the app in a process of its own, over these pools of one deployment. */
export async function serveQuotes(task: z.input<typeof Task>): Promise<QuoteServer> {
  const { urls, ...server } = await startMeasuredScript(new URL('./server.ts', import.meta.url), task);
  const [api = '', limited = '', bare = ''] = urls;
  const routes = '/public/v1/evm/31337';
  return { ...server, api: api + routes, limited: limited + routes, bare };
}
