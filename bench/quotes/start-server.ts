import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Address } from 'viem';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import type { servedPool } from '../../test/quotes/served-pool.ts';

const SOURCE = fileURLToPath(new URL('./server.ts', import.meta.url));

export interface QuoteServer {
  readonly process: ChildProcess;
  /** The chain's routes, without limits. */
  readonly api: string;
  /** The same with limits, counted in Redis. */
  readonly limited: string;
  /** A Hono route that sends what was put there, at each path. */
  readonly bare: string;
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
  const child = spawn(process.execPath, ['--import', 'tsx', SOURCE], {
    env: { ...process.env, BENCH_TASK },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const ports = JSON.parse(line.toString()) as { api: number; limited: number; bare: number };
  const routes = (port: number) => `http://127.0.0.1:${port}/public/v1/evm/31337`;
  return {
    process: child,
    api: routes(ports.api),
    limited: routes(ports.limited),
    bare: `http://127.0.0.1:${ports.bare}`,
  };
}
