import type { z } from '@hono/zod-openapi';
import { Redis } from 'ioredis';
import type { Address } from 'viem';
import { inject } from 'vitest';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { BatchResponse, Quote } from '../../api/quotes/quote-schema.ts';
import { quotesResource } from '../../api/quotes/quotes.ts';
import { routeResource } from '../../api/route/route.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import type { QuoteOptions } from '../../quoting/chain-bounds.ts';
import type { ChainDeps } from '../../quoting/open-chain.ts';
import { liveWarnings } from '../../quoting/open-chains.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import type { SnapshotObserver } from '../../quoting/snapshot-metrics.ts';
import { createLogger, type Logger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import { chainConfig, eagerQuotes, type QuoteWorld } from './quote-world.ts';
import { quotedChains } from './quoted-chains.ts';
import { directoryOf } from './served-pool.ts';

export interface QuoteApiOptions {
  readonly chain: ChainConfig;
  readonly directory: PoolDirectory;
  readonly quotes?: QuoteOptions;
  readonly batchDeadlineMs?: number;
  readonly countDisagreement?: () => void;
  readonly countCurve?: SnapshotObserver['curve'];
  readonly observeLive?: ChainDeps['observeLive'];
  readonly logger?: Logger;
  readonly now?: ChainDeps['now'];
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export interface QuoteApi {
  request(path: string, init?: RequestInit): Promise<Answer>;
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** The single endpoint; fails unless it answers 200 with a quote of the documented shape. */
  quote(pool: Address, depth?: boolean): Promise<z.infer<typeof Quote>>;
  /** The batch endpoint; the body may be malformed, and a string is sent as it is. */
  batch(body: unknown): Promise<Answer>;
  /** The results of a batch; fails as {@link QuoteApi.quote} does. */
  results(pools: readonly string[], depth?: boolean): Promise<z.infer<typeof BatchResponse>['results']>;
  /** Requests that left for nodes so far, as `method:outcome`. */
  readonly calls: string[];
  /** Responses so far, by what was at fault; `none` for those below 500. */
  countFaults(): Promise<Readonly<Record<string, number>>>;
  /** What `/status` says of live prices, by chain. */
  warnings(): Readonly<Record<string, string>>;
  /** Ends its connections. */
  stop(): Promise<void>;
}

/** On a loaded machine plans are as on an idle one. */
const ROUTE_LIMITS = { deadlineMs: 60_000, gasWaitMs: 60_000 };

/** The app of both endpoints, what it runs on, and what it counts. */
function quoteApp({
  chain,
  directory,
  quotes = eagerQuotes,
  countDisagreement,
  countCurve,
  observeLive,
  now,
  logger = createLogger('test', 'silent'),
  ...rest
}: QuoteApiOptions) {
  const calls: string[] = [];
  const countCall = (_chainId: number, method: string, outcome: string) => calls.push(`${method}:${outcome}`);
  const chains = quotedChains([chain], directory, {
    quotes,
    countCall,
    logger,
    ...(observeLive && { observeLive }),
    ...(now && { now }),
    observe: () => ({
      ...(countDisagreement && { guardsMismatched: countDisagreement }),
      ...(countCurve && { curve: countCurve }),
    }),
  });
  const metrics = createMetrics('test');
  const app = createApp(
    [
      ...bindRoutes(quotesResource, { chains, directory, ...rest }),
      ...bindRoutes(routeResource, { chains, directory, limits: ROUTE_LIMITS, now: () => performance.now() }),
    ],
    {
      verifyKey: async (key) => (key === 'good' ? { keyId: 'k1', holder: 'k1' } : null),
      rateLimit: {
        limits: LimitsConfig.parse({ enabled: false }),
        // Limits are off: it never connects.
        redis: new Redis(inject('redisUrl'), { lazyConnect: true }),
        prefix: 'test',
        trustedProxies: 0,
      },
      metrics,
      logger,
      chains,
    },
  );
  return { app, chains, calls, metrics };
}

async function countFaults(metrics: ReturnType<typeof createMetrics>): ReturnType<QuoteApi['countFaults']> {
  const { values } = (await metrics.getSingleMetric('http_request_duration_seconds')?.get()) ?? { values: [] };
  const counts: Record<string, number> = {};
  for (const { labels, value } of values.filter((each) => each.labels.le === '+Inf')) {
    const fault = String(labels.fault ?? 'none');
    counts[fault] = (counts[fault] ?? 0) + value;
  }
  return counts;
}

/** The bid/ask and route endpoints over a chain, without request limits. */
export function quoteApi(options: QuoteApiOptions): QuoteApi {
  const { app, chains, calls, metrics } = quoteApp(options);
  const { chainId } = options.chain;
  const client = inProcessClient(app);
  const request = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await app.request(path, init);
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  return {
    request,
    raw: async (path, init) => app.request(path, init),
    batch: (body) =>
      request(`/public/v1/evm/${chainId}/bid_ask/batch`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    calls,
    countFaults: () => countFaults(metrics),
    warnings: () => liveWarnings(chains),
    stop: async () => {
      await Promise.all(chains.values().map((it) => it.stop()));
    },
    quote: async (pool, depth = true) => {
      const params = { path: { chain_id: chainId, pool_address: pool }, query: { depth } };
      return Quote.parse(ok(await client.GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', { params })));
    },
    results: async (pools, depth = true) => {
      const params = { path: { chain_id: chainId } };
      const body = { pools: [...pools], depth };
      const answer = await client.POST('/public/v1/evm/{chain_id}/bid_ask/batch', { params, body });
      return BatchResponse.parse(ok(answer)).results;
    },
  };
}

/** The endpoints over flat pools of a world and its own node. Default: a block a second. */
export async function apiOf(
  world: Pick<QuoteWorld, 'chain' | 'deployment'>,
  pools: readonly Address[],
  { blockTimeMs = 1_000, ...options }: Partial<QuoteApiOptions> & { readonly blockTimeMs?: number } = {},
): Promise<QuoteApi> {
  const chain = chainConfig(world.chain.chainId, [world.chain.rpcUrl], { blockTimeMs });
  return quoteApi({ chain, directory: await directoryOf(world, pools), ...options });
}

function ok({ data, error, response }: { data?: unknown; error?: unknown; response: Response }): unknown {
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${JSON.stringify(error)}`);
  return data;
}
