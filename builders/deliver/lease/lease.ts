import type { Redis } from 'ioredis';
import { loadScript } from '../../../runtime/redis-script.ts';
import type { LeaseKeys } from '../../submit/queue/redis-keys.ts';

const acquire = loadScript('./acquire.lua', import.meta.url);
const renew = loadScript('./renew.lua', import.meta.url);

/** The part of its lease that a holder uses. Thus it stops sending before another process may start. */
const USED_SHARE = 0.8;

/**
 * The right to be the only process that does some work. Redis ends a lease that is not renewed. The holder knows that
 * end by its own monotonic clock. Whatever a holder writes must also be checked by its fencing token. The token is
 * higher than those of all earlier holders, even after Redis has lost its data.
 */
export type Lease = NonNullable<Awaited<ReturnType<typeof acquireLease>>>;

/**
 * Tries to take a lease.
 *
 * @param comesFirst whether this process may take it at once after Redis has lost its data. Other processes wait for
 *   the duration of a lease, since a previous holder may remember what it did.
 * @returns undefined while another process holds it
 */
export async function acquireLease(redis: Redis, keys: LeaseKeys, durationMs: number, comesFirst: boolean) {
  const { lease: key, fence: lastFence, epoch } = keys;
  const usedUntil = (requestedAt: number) => requestedAt + durationMs * USED_SHARE;
  let heldUntil = usedUntil(performance.now());
  const fence = (await acquire(redis, [key, lastFence, epoch], [durationMs, comesFirst ? '1' : '0'])) as string | null;
  if (fence === null) return undefined;
  return {
    fence,
    /** Whether this process still holds it, by its own clock. */
    isHeld: () => performance.now() < heldUntil,
    /** Prolongs the lease. Returns false once it is lost. */
    async renew(): Promise<boolean> {
      const renewedUntil = usedUntil(performance.now());
      const isHeld = (await renew(redis, [key], [fence, durationMs])) === 1;
      heldUntil = isHeld ? Math.max(heldUntil, renewedUntil) : 0;
      return isHeld;
    },
    /** Ends the use of the lease by this process. Other processes still wait for `release`. */
    finish(): void {
      heldUntil = 0;
    },
    /** Gives the lease up, so that other processes may take it at once. */
    async release(): Promise<void> {
      heldUntil = 0;
      await renew(redis, [key], [fence, 0]);
    },
  };
}
