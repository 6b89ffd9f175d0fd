import { Hono } from 'hono';
import type { Address } from 'viem';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { ApiError, sendError } from '../../api/errors.ts';
import { unknownGas } from '../../api/levels/unknown-extras.fixture.ts';
import { type RoutedChain, routeResource } from '../../api/route/route.ts';
import { ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import { PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { type BenchMarket, CHAIN_ID, type WarmMarket } from './market.ts';

/** The route endpoint alone, over a market whose pools are known. */
export function benchApp(
  market: BenchMarket,
  snapshots: RoutedChain['snapshots'],
  estimates = new ChainDepthEstimates(() => performance.now()),
): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    if (error instanceof ApiError) return sendError(c, error);
    throw error;
  });
  const table = new PoolTable(market.pools);
  const chain = {
    chainId: CHAIN_ID,
    snapshots,
    estimates,
    ...unknownGas,
    requested: new RequestedPools({ warmMs: 0, now: () => performance.now() }),
  };
  const bound = bindRoutes(routeResource, {
    chains: new Map([[CHAIN_ID, chain]]),
    directory: { table: async () => table },
    now: () => performance.now(),
  });
  mountHandlers(app, bound);
  return app;
}

/** Snapshots of a market that are in memory. @param observe is called with the pools of each read */
export function warmSnapshots(
  { snapshots }: WarmMarket,
  observe: (pools: readonly ServedPool[]) => void = () => undefined,
): RoutedChain['snapshots'] {
  return {
    depths: async (pools) => {
      observe(pools);
      const read = new Map<Address, DepthSnapshot>();
      for (const { address } of pools) {
        const snapshot = snapshots.get(address);
        if (snapshot) read.set(address, snapshot);
      }
      return read;
    },
  };
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
export async function timeOrder(app: Hono, body: string): Promise<TimedAnswer> {
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  const response = await app.request(`/public/v1/evm/${CHAIN_ID}/route`, { method: 'POST', body });
  const text = await response.text();
  const cpu = process.cpuUsage(cpuStart);
  const wallMs = performance.now() - start;
  return { status: response.status, text, wallMs, cpuMs: (cpu.user + cpu.system) / 1_000 };
}
