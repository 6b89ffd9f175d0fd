import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { LIMIT_CLASSES, type LimitClass, type LimitsConfig, type Quota } from '../../config/limits-schema.ts';
import { ApiError } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';

export type RateLimitDeps = {
  readonly limits: LimitsConfig;
  /** Shared count of all replicas; while it is away each replica counts for itself. */
  readonly redis: Redis;
  readonly trustedProxies: number;
};

/**
 * Counts a request against its class: by key when it carries a valid one, else by client address. Mounted after the key
 * check. Every answer carries the IETF `RateLimit` fields; a refusal is 429 with `Retry-After`.
 */
export function rateLimit(limitClass: LimitClass, deps: RateLimitDeps): MiddlewareHandler {
  if (!deps.limits.enabled) return (_c, next) => next();
  const quotas = deps.limits[limitClass];
  const anonymous = createLimiter(`${limitClass}:ip`, quotas.anonymous, deps.redis);
  const keyed = createLimiter(`${limitClass}:key`, quotas.keyed, deps.redis);
  return async (c, next) => {
    const key = c.get('key');
    const quota = key ? quotas.keyed : quotas.anonymous;
    const counted = await consume(key ? keyed : anonymous, key?.keyId ?? clientAddress(c, deps.trustedProxies));
    describe(c, limitClass, quota, counted.state);
    if (counted.refused) throw tooManyRequests(counted.state);
    await next();
  };
}

function createLimiter(name: string, quota: Quota, redis: Redis): RateLimiterAbstract {
  const options = { keyPrefix: `rl:${name}`, points: quota.requests, duration: quota.windowSecs };
  return new RateLimiterRedis({
    ...options,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(options),
  });
}

async function consume(limiter: RateLimiterAbstract, client: string) {
  try {
    return { refused: false, state: await limiter.consume(client) };
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return { refused: true, state: rejection };
    throw rejection;
  }
}

function describe(c: Context, name: string, quota: Quota, state: RateLimiterRes): void {
  c.header('RateLimit-Policy', `"${name}";q=${quota.requests};w=${quota.windowSecs}`);
  c.header('RateLimit', `"${name}";r=${state.remainingPoints};t=${waitSecsCeil(state)}`);
}

function tooManyRequests(state: RateLimiterRes): ApiError {
  return new ApiError(429, { error: 'Too many requests' }, { headers: { 'Retry-After': String(waitSecsCeil(state)) } });
}

const waitSecsCeil = (state: RateLimiterRes): number => Math.max(1, Math.ceil(state.msBeforeNext / 1000));

const LIMITED_PATHS: readonly (readonly [path: string, limitClass: LimitClass])[] = [
  ['/public/v1/chains', 'listing'],
  ['/public/v1/evm/metadata', 'listing'],
  ['/public/v1/evm/:chain_id/metadata', 'listing'],
  ['/public/v1/evm/:chain_id/:pool_address/bid_ask', 'quote'],
  ['/public/v1/evm/:chain_id/bid_ask/batch', 'batch'],
  ['/public/v1/evm/:chain_id/route', 'route'],
  ['/public/v1/evm/:chain_id/pamm-quote', 'pamm'],
];

/** Counts every endpoint in its class; paths of one class share one count. */
export function mountLimits(app: OpenAPIHono, deps: RateLimitDeps): void {
  const byClass = new Map(LIMIT_CLASSES.map((name) => [name, rateLimit(name, deps)]));
  for (const [path, limitClass] of LIMITED_PATHS) {
    const middleware = byClass.get(limitClass);
    if (middleware) app.use(path, middleware);
  }
}
