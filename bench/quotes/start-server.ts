import type { Address } from 'viem';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import type { servedPool } from '../../test/quotes/served-pool.ts';
import { startMeasuredServer } from '../measured-server.ts';

export interface QuoteServer {
  /** The chain's routes, without limits. */
  readonly api: string;
  /** The same with limits, counted in Redis. */
  readonly limited: string;
  /** A Hono route that sends what was put there, at each path. */
  readonly bare: string;
  readonly stop: () => Promise<void>;
}

/** Starts the app in a process of its own, over these pools of one deployment. */
export async function startQuoteServer(
  rpcUrl: string,
  deployment: Parameters<typeof servedPool>[1],
  pools: readonly Address[],
  layout: 'flat' | 'packed' = 'flat',
  redisUrl = '',
): Promise<QuoteServer> {
  const BENCH_TASK = JSON.stringify({ chain: chainConfig(31337, [rpcUrl]), deployment, pools, layout, redisUrl });
  const { urls, stop } = await startMeasuredServer(new URL('./server.ts', import.meta.url), { BENCH_TASK });
  const [api = '', limited = '', bare = ''] = urls;
  const routes = '/public/v1/evm/31337';
  return { api: api + routes, limited: limited + routes, bare, stop };
}
