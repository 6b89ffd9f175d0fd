import { Hono } from 'hono';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { ApiError, sendError } from '../../api/errors.ts';
import { type RoutedChain, routeResource } from '../../api/route/route.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import { PoolTable } from '../../quoting/pools/pool-directory.ts';
import { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import type { BenchMarket } from './market.ts';

/** The route endpoint alone, over a market whose pools are known. */
export function benchApp(
  market: BenchMarket,
  { chainId }: ChainConfig,
  snapshots: RoutedChain['snapshots'],
  estimates = new ChainDepthEstimates(),
): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    if (error instanceof ApiError) return sendError(c, error);
    throw error;
  });
  const table = new PoolTable(market.pools);
  const bound = bindRoutes(routeResource, {
    chains: new Map([[chainId, { chainId, snapshots, estimates, requested: new RequestedPools({ warmMs: 0 }) }]]),
    directory: { table: async () => table },
  });
  mountHandlers(app, bound);
  return app;
}

export interface TimedAnswer {
  readonly status: number;
  readonly text: string;
  /** From body to body. */
  readonly wallMs: number;
  /** The same without what other processes of the machine took. */
  readonly cpuMs: number;
}

/** Sends an order and waits for the answer. */
export async function timeOrder(app: Hono, chainId: number, body: string): Promise<TimedAnswer> {
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  const response = await app.request(`/public/v1/evm/${chainId}/route`, { method: 'POST', body });
  const text = await response.text();
  const cpu = process.cpuUsage(cpuStart);
  const wallMs = performance.now() - start;
  return { status: response.status, text, wallMs, cpuMs: (cpu.user + cpu.system) / 1_000 };
}
