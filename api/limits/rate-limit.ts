import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { Redis } from 'ioredis';
import { LIMIT_CLASSES, type LimitClass, type LimitsConfig, type Quota } from '../../config/limits-schema.ts';
import { clientLimit, type WindowUse } from '../../runtime/rate-window.ts';
import { loadScript } from '../../runtime/redis-script.ts';
import type { KeyIdentity } from '../auth/authenticate.ts';
import { tooManyRequests, waitSecsCeil } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import { countTogether, type WindowCount } from './count-together.ts';

const countRequests = loadScript('./count-requests.lua', import.meta.url);

export type RateLimitDeps = {
  readonly limits: LimitsConfig;
  /** Keeps the counts that all replicas share. While it is unreachable, each replica counts by itself. */
  readonly redis: Redis;
  /** `QUEUE_PREFIX`, with which names of counts in Redis begin: deployments with different ones share no count. */
  readonly prefix: string;
  readonly trustedProxies: number;
};

declare module 'hono' {
  interface ContextVariableMap {
    /**
     * Counts one more request of the client in the class of its endpoint, for work that costs as much. Undefined when
     * limits are off. It throws ApiError 429.
     */
    readonly countMore: (() => Promise<void>) | undefined;
  }
}

/**
 * Counts a request in its class: by key if it has a valid one, else by client address. Mounted after the key check.
 * Every response has the IETF `RateLimit` fields. A rejected request gets 429 with `Retry-After`.
 */
function rateLimit(count: Count, counted: CountedEarly, { trustedProxies }: RateLimitDeps): MiddlewareHandler {
  return async (c, next) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    const early = incoming && counted.get(incoming);
    const countOne = () => count(c.get('key'), () => clientAddress(c, trustedProxies));
    const { rejected, msBeforeNext, headers } = early ?? (await countOne());
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    if (rejected) throw tooManyRequests(msBeforeNext);
    c.set('countMore', async () => {
      const more = await countOne();
      if (more.rejected) throw tooManyRequests(more.msBeforeNext);
    });
    await next();
  };
}

function createCount(limitClass: LimitClass, deps: RateLimitDeps): Count {
  const quotas = deps.limits[limitClass];
  const anonymous = createLimiter(`${deps.prefix}:limit:${limitClass}:ip`, quotas.anonymous, deps);
  const keyed = createLimiter(`${deps.prefix}:limit:${limitClass}:key`, quotas.keyed, deps);
  return async (key, address) => {
    const state = await (key ? keyed(key.keyId) : anonymous(address()));
    return { ...state, headers: limitHeaders(limitClass, key ? quotas.keyed : quotas.anonymous, state) };
  };
}

type CountedRequest = WindowUse & { readonly headers: Readonly<Record<string, string>> };
type CountedEarly = WeakMap<IncomingMessage, CountedRequest>;

/** @param address of the client; called only when it has no key */
type Count = (key: KeyIdentity | null, address: () => string) => Promise<CountedRequest>;

/**
 * Makes a counter in Redis. While Redis is unreachable or slow, it counts in the memory of this process.
 *
 * @param keyPrefix beginning of the names in Redis; the client follows
 */
function createLimiter(keyPrefix: string, quota: Quota, { redis }: RateLimitDeps) {
  const countHere = clientLimit(quota);
  const countShared = countTogether(async (client, added) => {
    const counted = await countRequests(redis, [`${keyPrefix}:${client}`], [added, quota.windowSecs * 1_000]);
    const [requests, msBeforeNext] = counted as [number, number];
    return { requests, msBeforeNext };
  });
  const useOf = ({ requests, msBeforeNext }: WindowCount): WindowUse => ({
    rejected: requests > quota.requests,
    remaining: Math.max(quota.requests - requests, 0),
    msBeforeNext,
  });
  return (client: string): Promise<WindowUse> => countShared(client).then(useOf, () => countHere(client));
}

const limitHeaders = (name: string, quota: Quota, { remaining, msBeforeNext }: WindowUse) => ({
  'RateLimit-Policy': `"${name}";q=${quota.requests};w=${quota.windowSecs}`,
  RateLimit: `"${name}";r=${remaining};t=${waitSecsCeil(msBeforeNext)}`,
});

/** The middleware that counts requests of a class. */
export type LimitOf = (limitClass: LimitClass) => MiddlewareHandler;

/** Counts a request before the app gets it, which then does not count it again. Null when limits are off. */
export type CountEarly = (
  request: IncomingMessage,
  limitClass: LimitClass,
  key: KeyIdentity | null,
  address: () => string,
) => Promise<CountedRequest> | null;

/** Creates what counts requests. Endpoints of one class share one count. */
export function createLimits(deps: RateLimitDeps): { readonly limitOf: LimitOf; readonly countEarly: CountEarly } {
  if (!deps.limits.enabled) return { limitOf: () => (_c, next) => next(), countEarly: () => null };
  const made = LIMIT_CLASSES.map((limitClass) => [limitClass, createCount(limitClass, deps)]);
  const counts: Readonly<Record<LimitClass, Count>> = Object.fromEntries(made);
  const counted: CountedEarly = new WeakMap();
  return {
    limitOf: (limitClass) => rateLimit(counts[limitClass], counted, deps),
    countEarly: async (request, limitClass, key, address) => {
      const state = await counts[limitClass](key, address);
      counted.set(request, state);
      return state;
    },
  };
}
