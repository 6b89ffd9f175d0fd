import type { Redis } from 'ioredis';
import type { ClaimStore } from './block-claims.ts';
import { CLAIM_MS } from './block-readers.ts';

/** How long Redis keeps that a block was read. */
const OVER_MS = 10_000;
const OVER = 'over';

/**
 * Keeps the claims of the blocks of a chain in Redis. These are no leases: after a block was read, its key says so to
 * processes that come later, and a renewal need not compare the holder,
 * since reads at a hash are right whoever makes them.
 *
 * @param keyOf names the Redis key of a block's state
 */
export function redisClaims(redis: Pick<Redis, 'set' | 'pexpire'>, keyOf: (state: string) => string): ClaimStore {
  return {
    async take(state) {
      const holder = await redis.set(keyOf(state), '', 'PX', CLAIM_MS, 'NX', 'GET');
      return holder === null ? 'taken' : holder === OVER ? 'over' : 'held';
    },
    async renew(state) {
      await redis.pexpire(keyOf(state), CLAIM_MS);
    },
    async end(state) {
      await redis.set(keyOf(state), OVER, 'PX', OVER_MS);
    },
  };
}
