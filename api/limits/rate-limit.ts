import type { Context, MiddlewareHandler } from 'hono';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitClass, LimitsConfig, Quota } from '../../config/limits-schema.ts';
import { tooManyRequests, waitSecsCeil } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import { MAX_CLIENTS, WindowCounter } from './window-counter.ts';

export type RateLimitDeps = {
  readonly limits: LimitsConfig;
  /** Shared count of all replicas; while it is unreachable each replica counts for itself. */
  readonly redis: Redis;
  /** Start of the names of the counts in Redis, `QUEUE_PREFIX`: deployments with different ones share no count. */
  readonly prefix: string;
  readonly trustedProxies: number;
};

/**
 * Counts a request against its class: by key when it carries a valid one, else by client address. Mounted after the key
 * check. Every answer carries the IETF `RateLimit` fields; a refusal is 429 with `Retry-After`.
 */
function rateLimit(limitClass: LimitClass, deps: RateLimitDeps): MiddlewareHandler {
  if (!deps.limits.enabled) return (_c, next) => next();
  const quotas = deps.limits[limitClass];
  const anonymous = createLimiter(`${deps.prefix}:limit:${limitClass}:ip`, quotas.anonymous, deps);
  const keyed = createLimiter(`${deps.prefix}:limit:${limitClass}:key`, quotas.keyed, deps);
  return async (c, next) => {
    const key = c.get('key');
    const quota = key ? quotas.keyed : quotas.anonymous;
    const state = await (key ? keyed(key.keyId) : anonymous(clientAddress(c, deps.trustedProxies)));
    describe(c, limitClass, quota, state);
    if (state.rejected) throw tooManyRequests(state.msBeforeNext);
    await next();
  };
}

type Counted = { readonly rejected: boolean; readonly remaining: number; readonly msBeforeNext: number };

/**
 * Counts in Redis; while it is unreachable or slow, in the memory of this process.
 *
 * @param keyPrefix start of the names in Redis; the client follows
 */
function createLimiter(
  keyPrefix: string,
  quota: Quota,
  { redis }: Pick<RateLimitDeps, 'redis'>,
): (client: string) => Promise<Counted> {
  const shared = new RateLimiterRedis({
    keyPrefix,
    points: quota.requests,
    duration: quota.windowSecs,
    storeClient: redis,
    rejectIfRedisNotReady: true,
  });
  const own = new WindowCounter(quota.windowSecs, MAX_CLIENTS);
  return async (client) => {
    try {
      const { remainingPoints, msBeforeNext } = await shared.consume(client);
      return { rejected: false, remaining: remainingPoints, msBeforeNext };
    } catch (rejection) {
      if (rejection instanceof RateLimiterRes) {
        return { rejected: true, remaining: 0, msBeforeNext: rejection.msBeforeNext };
      }
      const { requests, msBeforeNext } = own.count(client);
      const remaining = Math.max(quota.requests - requests, 0);
      return { rejected: requests > quota.requests, remaining, msBeforeNext };
    }
  };
}

function describe(c: Context, name: string, quota: Quota, { remaining, msBeforeNext }: Counted): void {
  c.header('RateLimit-Policy', `"${name}";q=${quota.requests};w=${quota.windowSecs}`);
  c.header('RateLimit', `"${name}";r=${remaining};t=${waitSecsCeil(msBeforeNext)}`);
}

/** The middleware that counts requests of a class. */
export type LimitOf = (limitClass: LimitClass) => MiddlewareHandler;

/** Endpoints of one class share one count. */
export function createLimits(deps: RateLimitDeps): LimitOf {
  const made: Partial<Record<LimitClass, MiddlewareHandler>> = {};
  return (limitClass) => {
    made[limitClass] ??= rateLimit(limitClass, deps);
    return made[limitClass];
  };
}
