import { Gauge, type Registry } from 'prom-client';
import { QuoteDispatcher } from '../../builders/submit/dispatcher.ts';
import { chainEndpoints } from '../../builders/submit/endpoints.ts';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import type { Logger } from '../../runtime/logger.ts';
import { connectFailFast, connectQueueing } from '../../runtime/redis-connections.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { ServedChains } from '../request.ts';
import type { PammDeps } from './pamm-quote.ts';
import { createPublisher } from './publish-update.ts';

/** How often jobs that no worker took are removed. */
const SWEEP_EVERY_MS = 5_000;
/** If Redis takes longer, it counts as unreachable. */
const REDIS_TIMEOUT_MS = 1_000;
const REDIS_UNREACHABLE = {
  redis: 'Redis does not answer: quote updates get 503, and each API process counts requests by itself',
};
const WORKER_MISSING = { builders: 'no builders worker runs under QUEUE_PREFIX: quote updates stay pending' };

export type PammOptions = Pick<PammDeps, 'responseTimeoutMs'> & {
  readonly chains: ServedChains;
  /** Environment that holds the builders' keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redisUrl: string;
  /** `QUEUE_PREFIX`. */
  readonly queuePrefix: string;
  readonly metrics: Registry;
  readonly logger: Logger;
};

export type Pamm = {
  /** What the endpoint's handler needs. */
  readonly deps: PammDeps;
  /** What the operator should know, by subject. */
  warnings(): Promise<Readonly<Record<string, string>>>;
  /** To be called when no request is in flight any more. */
  stop(): Promise<void>;
};

/** Starts the quote-update endpoint with two dedicated connections: one fails fast, and one receives the answers. */
export function startPamm(options: PammOptions): Pamm {
  const { chains, env, redisUrl, queuePrefix, metrics, logger } = options;
  const keys = new RedisKeys(queuePrefix);
  const redis = connectFailFast(redisUrl, logger);
  const subscriber = connectQueueing(redisUrl, logger);
  const dispatcher = new QuoteDispatcher({ redis, subscriber, keys, metrics, logger });
  const endpoints = new Map(chains.values().map((chain) => [chain.chainId, chainEndpoints(chain, env)]));

  const all = [...endpoints.values()].flat();
  const sweeper = setInterval(() => {
    if (redis.status !== 'ready') return;
    dispatcher.sweep(all).catch((error: unknown) => logger.warn({ err: error }, 'stale updates were not removed'));
  }, SWEEP_EVERY_MS);
  /** Endpoints whose updates stay queued: no worker holds the lease. Null without builders or an answer of Redis. */
  const unserved = async (): Promise<readonly string[] | null> => {
    if (all.length === 0) return null;
    const leases = redis.mget(all.map(({ id }) => keys.lease(id)));
    return withTimeout(leases, REDIS_TIMEOUT_MS).then(
      (holders) => all.flatMap(({ id }, index) => (holders[index] ? [] : [id])),
      () => null,
    );
  };
  const redisAnswers = (): Promise<boolean> =>
    withTimeout(redis.ping(), REDIS_TIMEOUT_MS).then(
      () => true,
      () => false,
    );
  new Gauge({
    name: 'pamm_worker_missing',
    help: '1 while no builders worker takes the quote updates of this API, or those for one of its builders',
    registers: [metrics],
    async collect() {
      const missing = await unserved();
      if (missing === null) this.remove();
      else this.set(Number(missing.length > 0));
    },
  });

  return {
    deps: {
      ...options,
      endpoints,
      submit: (...args) => dispatcher.submit(...args),
      publish: createPublisher(redis, queuePrefix, logger),
      wallClock: () => Date.now(),
    },
    async warnings() {
      if (!(await redisAnswers())) return REDIS_UNREACHABLE;
      const missing = (await unserved()) ?? [];
      if (missing.length === 0) return {};
      if (missing.length === all.length) return WORKER_MISSING;
      return { builders: `no builders worker serves ${missing.join(', ')}: their quote updates stay pending` };
    },
    async stop() {
      clearInterval(sweeper);
      await dispatcher.close();
      redis.disconnect();
      subscriber.disconnect();
    },
  };
}
