import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { HexAddress } from '../../config/scalars.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { chainConfig, stillQuotes } from '../../test/quotes/quote-world.ts';
import { quotedChains } from '../../test/quotes/quoted-chains.ts';
import { fixedDirectory, servedPool } from '../../test/quotes/served-pool.ts';
import { serveMeasured } from '../serve-measured.ts';

/** What the bench hands its server: pools of one deployment. */
export const Task = z.object({
  rpcUrl: z.string(),
  deployment: z.custom<Parameters<typeof servedPool>[1]>(),
  pools: z.array(HexAddress).readonly(),
  layout: z.enum(['flat', 'packed']).default('flat'),
  redisUrl: z.string().default(''),
});

/** High enough to refuse no client. */
const LARGE = { requests: 1_000_000_000, windowSecs: 3_600 };

/** A node on two busy cores answers late: what it takes is measured, not cut off. */
const LONG_TIMEOUTS = { rpcTimeoutMs: 30_000, readTimeoutMs: 60_000 };

/**
 * The real app with limits off and on, and a bare Hono route that sends the body and headers that it was given
 * for a path, to compare with.
 */
serveMeasured(async (task) => {
  const { rpcUrl, deployment, pools, layout, redisUrl } = Task.parse(task);
  const logger = createLogger('bench', 'warn');
  const chain = chainConfig(31337, [rpcUrl]);
  const devChain = await connectDevChain(rpcUrl);
  const mark = layout === 'packed' ? 'bidAsk' : 'mean';
  const served = await Promise.all(pools.map((pool) => servedPool(devChain, deployment, pool, mark, layout)));
  const directory = fixedDirectory(served);
  const quotes = { ...stillQuotes, ...LONG_TIMEOUTS };
  const deps = { chains: quotedChains([chain], directory, { quotes, logger }), directory };
  const quotas = { anonymous: LARGE, keyed: LARGE };
  const createWith = (enabled: boolean) =>
    createApp(bindRoutes(quotesResource, deps), {
      verifyKey: async () => null,
      rateLimit: {
        limits: LimitsConfig.parse({ enabled, quote: quotas, batch: quotas }),
        redis: new Redis(redisUrl, { lazyConnect: true }),
        prefix: 'bench',
        trustedProxies: 0,
      },
      metrics: createMetrics('bench'),
      logger,
    });
  return [createWith(false), createWith(true), bareRoute()];
});

function bareRoute(): Hono {
  const same = new Map<string, { body: string; headers: Record<string, string> }>();
  return new Hono()
    .on(['GET', 'POST'], '/*', (c) => {
      const { body, headers } = same.get(c.req.path) ?? { body: '', headers: {} };
      return c.body(body, 200, headers);
    })
    .put('/*', async (c) => {
      const headers = c.req.header('X-Headers') ?? '[["content-type","application/json"]]';
      same.set(c.req.path, { body: await c.req.text(), headers: Object.fromEntries(JSON.parse(headers)) });
      return c.body(null, 204);
    });
}
