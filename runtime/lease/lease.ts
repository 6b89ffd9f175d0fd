import type { Redis } from 'ioredis';
import { loadScript } from '../redis-script.ts';

const acquire = loadScript('./acquire.lua', import.meta.url);
const renew = loadScript('./renew.lua', import.meta.url);

/** Part of its duration that a holder uses, so that it stops sending before anyone else may start. */
const USED_SHARE = 0.8;

/** Names in Redis: of a lease, of the last token that it had, and of the time since which this Redis has had its data. */
export interface LeaseKeys {
  readonly lease: string;
  readonly fence: string;
  readonly epoch: string;
}

/** @param id of what is leased */
export const leaseKeys = (prefix: string, id: string): LeaseKeys => ({
  lease: `${prefix}:lease:${id}`,
  fence: `${prefix}:fence:${id}`,
  epoch: `${prefix}:epoch`,
});

/**
 * The right to be the one process that does something. Redis ends it by itself when it is not renewed; the holder knows
 * that end by its own monotonic clock. Whatever it changes or says is to be checked by its fencing token as well, which is
 * higher than those of all holders before, also after a loss of Redis' data.
 */
export type Lease = NonNullable<Awaited<ReturnType<typeof acquireLease>>>;

/**
 * Tries to take a lease.
 *
 * @param comesFirst whether this process may take it at once after a loss of Redis' data. The others wait for as long as a
 *   lease lasts, since those that held it before may remember what they did.
 * @param known the highest token that this process knows of: a Redis whose data and time are lost gives a higher one
 * @returns undefined while another process holds it
 */
export async function acquireLease(
  redis: Redis,
  keys: LeaseKeys,
  durationMs: number,
  comesFirst: boolean,
  known = '0',
) {
  const { lease: key, fence: lastFence, epoch } = keys;
  const usedFrom = (requestedAt: number) => requestedAt + durationMs * USED_SHARE;
  let heldUntil = usedFrom(performance.now());
  const fence = (await acquire(redis, [key, lastFence, epoch], [durationMs, comesFirst ? '1' : '0', known])) as
    | string
    | null;
  if (fence === null) return undefined;
  return {
    fence,
    /** Whether this process still holds it, by its own clock. */
    isHeld: () => performance.now() < heldUntil,
    /** Prolongs the lease. Returns false once it is lost. */
    async renew(): Promise<boolean> {
      const renewedUntil = usedFrom(performance.now());
      const isHeld = (await renew(redis, [key], [fence, durationMs])) === 1;
      heldUntil = isHeld ? Math.max(heldUntil, renewedUntil) : 0;
      return isHeld;
    },
    /** Nothing may be done under it any more; others still have to wait for `release`. */
    finish(): void {
      heldUntil = 0;
    },
    /** Leaves it to others at once. */
    async release(): Promise<void> {
      heldUntil = 0;
      await renew(redis, [key], [fence, 0]);
    },
  };
}
