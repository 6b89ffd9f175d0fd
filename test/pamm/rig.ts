import { randomBytes } from 'node:crypto';
import { createApp } from '../../api/app.ts';
import { openPamm } from '../../api/pamm/open-pamm.ts';
import { createBuildersMetrics } from '../../builders/metrics.ts';
import { RedisKeys } from '../../builders/queue/redis-keys.ts';
import { connectBackground, connectPatient } from '../../builders/redis-connections.ts';
import { type BuildersWorker, startBuildersWorker } from '../../builders/worker.ts';
import { createPoolTradingDataClient, type Schemas } from '../../client/client.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { type MockBuilder, startMockBuilder } from '../../devnet/mock-builders/mock-builder.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';

export const API_KEY = 'test-key';
export const ETHEREUM = 31337;
export const BSC = 31338;

/** Short enough for tests; production waits longer. */
export const QUICK_TIMES = {
  runner: { leaseMs: 1_000, pollMs: 50 },
  connection: { dialFloorMs: 100, longestDialDelayMs: 400, keepaliveMs: 300 },
};

export type PammBody = Schemas['PammQuoteBody'];
export type PammAnswer = Schemas['PammQuoteResponse'];

/** Two mock builders of Ethereum, a stream and a bundle builder of BSC, and the chains file's entries that name them. */
export async function startMocks() {
  const [titan, quasar, stream, bundle] = await Promise.all([
    startMockBuilder(),
    startMockBuilder(),
    startMockBuilder(),
    startMockBuilder(),
  ]);
  const chains = [
    chainOf(1, undefined),
    chainOf(8453, undefined),
    chainOf(ETHEREUM, {
      kind: 'ethereum',
      builders: [
        { id: 'titan', transport: 'quote-stream', url: titan.streamUrl, apiKeyEnv: 'TITAN_KEY' },
        { id: 'quasar', transport: 'quote-stream', url: quasar.streamUrl },
        { id: 'off', transport: 'quote-stream', url: quasar.streamUrl, apiKeyEnv: 'UNSET_KEY' },
      ],
    }),
    chainOf(BSC, {
      kind: 'bsc',
      builders: [
        { id: 'stream', transport: 'quote-stream', url: stream.streamUrl },
        { id: 'bundle', transport: 'bundle', url: bundle.bundleUrl, apiKeyEnv: 'BUNDLE_KEY' },
      ],
    }),
  ];
  const all: MockBuilder[] = [titan, quasar, stream, bundle];
  return {
    titan,
    quasar,
    stream,
    bundle,
    chains,
    env: { TITAN_KEY: 'titan-secret', BUNDLE_KEY: 'bundle-secret' },
    stop: () => Promise.all(all.map((mock) => mock.stop())),
  };
}

export type Mocks = Awaited<ReturnType<typeof startMocks>>;

function chainOf(chainId: number, pamm: unknown): ChainConfig {
  return ChainConfig.parse({
    chainId,
    name: `chain-${chainId}`,
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
    ...(pamm === undefined ? {} : { pamm }),
  });
}

/** A worker and an API on one Redis, in this process, with real sockets between all parts. */
export async function startRig(redisUrl: string, mocks: Mocks, simulate = false) {
  const queuePrefix = `t${randomBytes(6).toString('hex')}`;
  const logger = createLogger('test', process.env.TEST_LOG_LEVEL ?? 'silent');
  const registry = createMetrics('test');
  const api = await startApi(redisUrl, mocks, queuePrefix, { simulate });
  const redis = connectPatient(redisUrl, logger);
  const background = connectBackground(redisUrl, logger);
  const keys = new RedisKeys(queuePrefix);
  // This Redis has held its data for long: nobody need wait for workers that may know more.
  await redis.set(keys.epoch(), '1');
  const metrics = createBuildersMetrics(registry);
  const startWorker = (): BuildersWorker =>
    startBuildersWorker({
      chains: mocks.chains,
      env: mocks.env,
      redis,
      background,
      keys,
      simulate,
      metrics,
      logger,
      times: QUICK_TIMES,
    });
  const worker = startWorker();
  return {
    ...api,
    keys,
    redis,
    registry,
    async stop() {
      await worker.stop();
      await api.stop();
      redis.disconnect();
      background.disconnect();
    },
  };
}

export type Rig = Awaited<ReturnType<typeof startRig>>;

export async function startApi(
  redisUrl: string,
  mocks: Mocks,
  queuePrefix: string,
  { simulate = false, limits = LimitsConfig.parse({ enabled: false }) } = {},
) {
  const logger = createLogger('test', process.env.TEST_LOG_LEVEL ?? 'silent');
  const registry = createMetrics('test');
  const limiterRedis = connectPatient(redisUrl, logger);
  const pamm = openPamm({
    chains: new Map(mocks.chains.map((chain) => [chain.chainId, chain])),
    env: mocks.env,
    redisUrl,
    queuePrefix,
    simulate,
    metrics: createBuildersMetrics(registry),
    logger,
  });
  const app = createApp([pamm.resource], {
    verifyKey: async (key) => (key === API_KEY ? { keyId: 'k1' } : null),
    rateLimit: { limits, redis: limiterRedis, trustedProxies: 0 },
    metrics: registry,
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0);
  const base = `http://127.0.0.1:${server.port}`;
  const client = createPoolTradingDataClient(base, { apiKey: API_KEY });
  const send = (chainId: number, body: PammBody) =>
    client.POST('/public/v1/evm/{chain_id}/pamm-quote', { params: { path: { chain_id: chainId } }, body });
  return {
    base,
    /** Sends an update with the typed client. */
    send,
    /** The same; fails unless it is answered with 200. */
    async submit(chainId: number, body: PammBody): Promise<PammAnswer> {
      const { data, error, response } = await send(chainId, body);
      if (!data) throw new Error(`${response.status} ${JSON.stringify(error)}`);
      return data;
    },
    /** Posts a body that may be malformed, an object as JSON or a string as it is. */
    post: (chainId: number | string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${base}/public/v1/evm/${chainId}/pamm-quote`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${API_KEY}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async stop() {
      await server.stop(1_000);
      await pamm.close();
      limiterRedis.disconnect();
    },
  };
}
