import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { HexAddress } from '../../config/scalars.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { runMain } from '../../runtime/run-main.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { quotedChains } from '../../test/quotes/quoted-chains.ts';
import { fixedDirectory, servedPool } from '../../test/quotes/served-pool.ts';

/** What the bench hands its server in the environment. */
const Task = z.object({
  chain: ChainConfig,
  deployment: z.custom<Parameters<typeof servedPool>[1]>(),
  pools: z.array(HexAddress),
  layout: z.enum(['flat', 'packed']),
  redisUrl: z.string(),
});

/** High enough to refuse no client. */
const LARGE = { requests: 1_000_000_000, windowSecs: 3_600 };

/** A node on two busy cores answers late: what it takes is measured, not cut off. */
const LONG_TIMEOUTS = { rpcTimeoutMs: 30_000, readTimeoutMs: 60_000 };

/**
 * A process of its own for what is measured: the real app with limits off and on, and a bare Hono route that sends the body
 * and headers that it was given for a path, to compare with. It prints their ports as one line of JSON.
 */
runMain(async () => {
  const { chain, deployment, pools, layout, redisUrl } = Task.parse(JSON.parse(process.env.BENCH_TASK ?? 'null'));
  const logger = createLogger('bench', 'warn');
  let calls = 0;
  const devChain = await connectDevChain(chain.rpcUrls[0] ?? '');
  const mark = layout === 'packed' ? 'bidAsk' : 'mean';
  const served = await Promise.all(pools.map((pool) => servedPool(devChain, deployment, pool, mark, layout)));
  const countCall = () => {
    calls += 1;
  };
  const directory = fixedDirectory(served);
  const quotes = { ...stillQuotes, ...LONG_TIMEOUTS };
  const deps = { chains: quotedChains([chain], directory, { quotes, countCall, logger }), directory };
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
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const same = new Map<string, { body: string; headers: Record<string, string> }>();
  const trivial = new Hono()
    .get('/calls', (c) => c.json(calls))
    .get('/memory', (c) => {
      collectGarbage();
      const { heapUsed, external, rss } = process.memoryUsage();
      return c.json({ used: heapUsed + external, rss });
    })
    .on(['GET', 'POST'], '/*', (c) => {
      const { body, headers } = same.get(c.req.path) ?? { body: '', headers: {} };
      return c.body(body, 200, headers);
    })
    .put('/*', async (c) => {
      const headers = c.req.header('X-Headers') ?? '[["content-type","application/json"]]';
      same.set(c.req.path, { body: await c.req.text(), headers: Object.fromEntries(JSON.parse(headers)) });
      return c.body(null, 204);
    });
  const [api, limited, bare] = [
    await startServer(createWith(false), '127.0.0.1', 0),
    await startServer(createWith(true), '127.0.0.1', 0),
    await startServer(trivial, '127.0.0.1', 0),
  ];
  process.stdout.write(`${api.port} ${limited.port} ${bare.port}\n`);
  process.on('SIGTERM', () => process.exit(0));
});
