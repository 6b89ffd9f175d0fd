import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createApp } from '../../api/app.ts';
import type { KeyIdentity } from '../../api/auth/authenticate.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { pammResource } from '../../api/pamm/pamm-quote.ts';
import { startPamm } from '../../api/pamm/start-pamm.ts';
import { startBuildersWorker } from '../../builders/deliver/worker.ts';
import type { AuditEntry } from '../../builders/submit/audit-entry.ts';
import { chainEndpoints } from '../../builders/submit/endpoints.ts';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import type { Schemas } from '../../client/rest/types.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { type MockBuilder, startMockBuilder } from '../../devnet/mock-builders/mock-builder.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { connectQueueing } from '../../runtime/redis-connections.ts';
import { createPoolTradingDataClient } from '../harness/http-client.ts';
import { eventually } from './eventually.ts';

export const API_KEY = 'test-key';
/** Of the same holder as {@link API_KEY}, as after a rotation. */
export const ROTATED_KEY = 'rotated-test-key';
/** Of another holder. */
export const OTHER_KEY = 'other-test-key';

const IDENTITIES: Readonly<Record<string, KeyIdentity>> = {
  [API_KEY]: { keyId: 'k1', holder: 'k1' },
  [ROTATED_KEY]: { keyId: 'k2', holder: 'k1' },
  [OTHER_KEY]: { keyId: 'k3', holder: 'k3' },
};

/** Of the service, at the relayer. */
export const RELAYER_KEY = 'relayer-secret';

export const ETHEREUM = 31337;
export const BSC = 31338;
/** Its only builder is the relayer of {@link BSC}, over HTTP. */
export const HTTP_RELAYER = 31339;

/** Pauses between dials; those of production are longer. */
const DIAL = { minPauseMs: 100, maxPauseMs: 400 };
/**
 * No pause of a busy machine loses such a lease, nor a job its lock, which BullMQ prolongs by the wall clock: not while
 * that stands still. A job without a lock runs again.
 */
const LEASE_MS = 60_000;
/** For tests in which a worker loses its lease. */
export const SHORT_LEASE_MS = 1_000;

interface RigOptions {
  readonly leaseMs?: number;
  /** Whether updates of Ethereum are simulated. */
  readonly simulate?: boolean;
}

/**
 * How long the rig's API waits for builders: as long as a slow machine may need. What builders say is then in the
 * response, and only tests of the deadline itself depend on the clock.
 */
const TIMEOUT_MS = 20_000;

export type PammBody = Schemas['PammQuoteBody'];
export type PammAnswer = Schemas['PammQuoteResponse'];

/**
 * Two mock builders of Ethereum; a stream builder, a bundle builder and a relayer of BSC;
 * and the chains file's entries that name them.
 */
export async function startMocks() {
  const [titan, quasar, stream, bundle, relayer] = await Promise.all([
    startMockBuilder(),
    startMockBuilder(),
    startMockBuilder(),
    startMockBuilder(),
    startMockBuilder(),
  ]);
  relayer.state.relayer.keys = { [RELAYER_KEY]: 'maker', 'key-of-a-taker': 'taker' };
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
        { id: 'relayer', transport: 'relayer', url: relayer.relayerUrl, apiKeyEnv: 'RELAYER_KEY' },
      ],
    }),
    chainOf(HTTP_RELAYER, {
      kind: 'bsc',
      builders: [
        {
          id: 'posted',
          transport: 'relayer',
          url: relayer.relayerUrl.replace('ws:', 'http:'),
          apiKeyEnv: 'RELAYER_KEY',
        },
      ],
    }),
  ];
  const all: MockBuilder[] = [titan, quasar, stream, bundle, relayer];
  const env = { TITAN_KEY: 'titan-secret', BUNDLE_KEY: 'bundle-secret', RELAYER_KEY };
  const endpoints = chains.flatMap((chain) => chainEndpoints(chain, env));
  return {
    titan,
    quasar,
    stream,
    bundle,
    relayer,
    chains,
    env,
    /** Name of a builder's endpoint in Redis. */
    endpointId: (builder: string) => endpoints.find(({ provider }) => provider.startsWith(`${builder}:`))?.id ?? '',
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

/**
 * A worker and an API on one Redis, in this process, with real sockets between all parts; resolves once they are up.
 */
export async function startRig(
  redisUrl: string,
  mocks: Mocks,
  { leaseMs = LEASE_MS, simulate = false }: RigOptions = {},
) {
  const queuePrefix = `t${randomBytes(6).toString('hex')}`;
  const logger = createLogger('test', process.env.TEST_LOG_LEVEL ?? 'silent');
  const registry = createMetrics('test');
  const streams = [mocks.titan, mocks.quasar, mocks.stream, mocks.relayer].map(({ state }) => ({
    state,
    before: state.connections,
  }));
  const api = await startApi(redisUrl, mocks, queuePrefix, { responseTimeoutMs: TIMEOUT_MS });
  const redis = connectQueueing(redisUrl, logger);
  const keys = new RedisKeys(queuePrefix);
  // As if this Redis had held its data for long: a worker need not wait for others that may know more.
  await redis.set(keys.epoch(), '1');
  const worker = startBuildersWorker({
    chains: mocks.chains,
    env: mocks.env,
    redis,
    keys,
    simulate,
    metrics: registry,
    logger,
    times: { leaseMs, dial: DIAL },
  });
  await eventually(() => streams.every(({ state, before }) => state.connections > before), 30_000);
  return {
    ...api,
    keys,
    redis,
    registry,
    /** How the updates of a uuid ended, as the audit trail has it, oldest first. */
    outcomes: (replacementUuid: string) => outcomesOf(redis, keys, replacementUuid),
    async stop() {
      await worker.stop();
      await api.stop();
      redis.disconnect();
    },
  };
}

/** Entries of the audit stream, which no writer empties here. */
async function outcomesOf(redis: Redis, keys: RedisKeys, replacementUuid: string) {
  const entries = (await redis.xrange(keys.audit(), '-', '+')).map(
    ([, [, json = '']]) => JSON.parse(json) as AuditEntry,
  );
  const ids = entries.flatMap((entry) =>
    entry.kind === 'submission' && entry.replacementUuid === replacementUuid ? [entry.submissionId] : [],
  );
  return entries.flatMap((entry) => (entry.kind === 'answer' && ids.includes(entry.submissionId) ? [entry] : []));
}

export type Rig = Awaited<ReturnType<typeof startRig>>;

type ApiOptions = { readonly limits?: LimitsConfig; readonly responseTimeoutMs?: number };

/**
 * An API on a Redis, in this process, with the contract's response deadline unless told otherwise; resolves once it
 * hears the answers of builders.
 */
export async function startApi(
  redisUrl: string,
  mocks: Mocks,
  queuePrefix: string,
  { limits = LimitsConfig.parse({ enabled: false }), ...waiting }: ApiOptions = {},
) {
  const logger = createLogger('test', process.env.TEST_LOG_LEVEL ?? 'silent');
  const registry = createMetrics('test');
  const limiterRedis = connectQueueing(redisUrl, logger);
  const channels = new RedisKeys(queuePrefix).answers('*');
  const listeners = async () => ((await limiterRedis.pubsub('CHANNELS', channels)) as string[]).length;
  const before = await listeners();
  const pamm = startPamm({
    chains: new Map(mocks.chains.map((chain) => [chain.chainId, chain])),
    env: mocks.env,
    redisUrl,
    queuePrefix,
    ...waiting,
    metrics: registry,
    logger,
  });
  const app = createApp(bindRoutes(pammResource, pamm.deps), {
    verifyKey: async (key) => IDENTITIES[key] ?? null,
    rateLimit: { limits, redis: limiterRedis, prefix: queuePrefix, trustedProxies: 0 },
    metrics: registry,
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0);
  await eventually(async () => (await listeners()) > before, 30_000);
  const base = `http://127.0.0.1:${server.port}`;
  const send = (chainId: number, body: PammBody, apiKey: string = API_KEY) =>
    createPoolTradingDataClient(base, { apiKey }).POST('/public/v1/evm/{chain_id}/pamm-quote', {
      params: { path: { chain_id: chainId } },
      body,
    });
  return {
    base,
    /** Sends an update with the typed client. */
    send,
    /** The same; fails unless it is answered with 200. */
    async submit(chainId: number, body: PammBody, apiKey: string = API_KEY): Promise<PammAnswer> {
      const { data, error, response } = await send(chainId, body, apiKey);
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
      await pamm.stop();
      limiterRedis.disconnect();
    },
  };
}
