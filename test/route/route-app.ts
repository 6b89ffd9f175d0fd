import type { Hono } from 'hono';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { type RouteLimits, routeResource } from '../../api/route/route.ts';
import type { operations } from '../../client/schema.d.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import type { QuoteOptions } from '../../quoting/chain-bounds.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import { eagerQuotes } from '../quotes/quote-world.ts';
import { quotedChains } from '../quotes/quoted-chains.ts';

export interface RouteAppOptions {
  readonly chain: ChainConfig;
  readonly directory: PoolDirectory;
  readonly quotes?: QuoteOptions;
  readonly routing?: Partial<RouteLimits>;
  /** Default: off. */
  readonly limits?: LimitsConfig;
}

const NO_LIMITS = LimitsConfig.parse({ enabled: false });

/** The API's route and bid/ask endpoints over a chain. */
export function routeApp({
  chain,
  directory,
  quotes = eagerQuotes,
  routing = {},
  limits = NO_LIMITS,
}: RouteAppOptions): Hono {
  const logger = createLogger('test', 'silent');
  const deps = { chains: quotedChains([chain], directory, { quotes }), directory, now: () => performance.now() };
  return createApp([...bindRoutes(quotesResource, deps), ...bindRoutes(routeResource, { ...deps, limits: routing })], {
    verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
    rateLimit: {
      limits,
      // Never connects: requests are counted in memory.
      redis: new Redis(inject('redisUrl'), { lazyConnect: true }),
      prefix: 'test',
      trustedProxies: 0,
    },
    metrics: createMetrics('test'),
    logger,
  });
}

/** Asks the route endpoint with the typed client. The body may have other fields or values than the type allows. */
export async function postRoute(
  app: Hono,
  body: object,
  { apiKey }: { readonly apiKey?: string } = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { data, error, response } = await inProcessClient(app, apiKey).POST('/public/v1/evm/{chain_id}/route', {
    params: { path: { chain_id: 31337 } },
    body: body as operations['findRoute']['requestBody']['content']['application/json'],
  });
  return { status: response.status, body: data ?? error };
}

/** Sends a text to the route endpoint as it is. */
export async function postRouteText(
  app: Hono,
  body: string,
  { chainId = '31337', headers = {} }: { readonly chainId?: string; readonly headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await app.request(`/public/v1/evm/${chainId}/route`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, body: await response.json() };
}
