import type { Registry } from 'prom-client';
import { QuoteDispatcher } from '../../builders/submit/dispatcher.ts';
import { chainEndpoints } from '../../builders/submit/endpoints.ts';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import type { Logger } from '../../runtime/logger.ts';
import { connectFailFast, connectPatient } from '../../runtime/redis-connections.ts';
import type { ServedChains } from '../request.ts';
import type { PammDeps } from './pamm-quote.ts';
import { registerWorkerMetric } from './worker-metric.ts';
import { WorkerWatch } from './worker-watch.ts';

/** How often jobs that no worker took are removed. */
const SWEEP_EVERY_MS = 5_000;
const WORKER_MISSING = { builders: 'no builders worker runs under QUEUE_PREFIX: quote updates stay pending' };

export type PammOptions = Pick<PammDeps, 'responseTimeoutMs'> & {
  readonly chains: ServedChains;
  /** Where the builders' keys are. */
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
  warnings(): Readonly<Record<string, string>>;
  /** To be called once no request is in flight any more. */
  stop(): Promise<void>;
};

/** The quote-update endpoint with connections of its own: one that fails fast, and one that hears the answers. */
export function startPamm(options: PammOptions): Pamm {
  const { chains, env, redisUrl, queuePrefix, metrics, logger } = options;
  const keys = new RedisKeys(queuePrefix);
  const redis = connectFailFast(redisUrl, logger);
  const subscriber = connectPatient(redisUrl, logger);
  const dispatcher = new QuoteDispatcher({ redis, subscriber, keys, metrics, logger });
  const endpoints = new Map([...chains.values()].map((chain) => [chain.chainId, chainEndpoints(chain, env)]));

  const all = [...endpoints.values()].flat();
  const sweeper = setInterval(() => {
    if (redis.status !== 'ready') return;
    dispatcher.sweep(all).catch((error: unknown) => logger.warn({ err: error }, 'stale updates were not removed'));
  }, SWEEP_EVERY_MS);
  const watch =
    all.length > 0 ? new WorkerWatch({ redis, keys, endpointIds: all.map(({ id }) => id), logger }) : undefined;
  watch?.start();
  const workerMissing = () => watch?.isMissing() ?? null;
  registerWorkerMetric(metrics, workerMissing);

  return {
    deps: { ...options, endpoints, submit: (...args) => dispatcher.submit(...args) },
    warnings: () => (workerMissing() ? WORKER_MISSING : {}),
    async stop() {
      watch?.stop();
      clearInterval(sweeper);
      await dispatcher.close();
      redis.disconnect();
      subscriber.disconnect();
    },
  };
}
