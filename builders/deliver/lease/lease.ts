import type { Redis } from 'ioredis';
import { AppError } from '../../../config/app-error.ts';
import type { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { loadScript } from '../../submit/queue/redis-script.ts';

const acquire = loadScript('./acquire.lua', import.meta.url);
const renew = loadScript('./renew.lua', import.meta.url);

/** Part of its duration that a holder uses, so that it stops sending before anyone else may start. */
const USED_SHARE = 0.8;

/**
 * The right to be the one worker that talks to an endpoint. Redis ends it by itself when it is not renewed; the holder
 * knows that end by its own monotonic clock, and every script that moves state checks the fencing token as well.
 */
export type Lease = NonNullable<Awaited<ReturnType<typeof acquireLease>>>;

/**
 * Tries to take an endpoint's lease.
 *
 * @param heldBefore whether this process has held it already: it then remembers what was sent, and after a loss of
 *   Redis' data comes before those that do not
 * @returns undefined while another worker holds it
 */
export async function acquireLease(
  redis: Redis,
  keys: RedisKeys,
  endpointId: string,
  durationMs: number,
  heldBefore: boolean,
) {
  const key = keys.lease(endpointId);
  const usedFrom = (requestedAt: number) => requestedAt + durationMs * USED_SHARE;
  let heldUntil = usedFrom(performance.now());
  const names = [key, keys.lastFence(endpointId), keys.epoch()];
  const fence = (await acquire(redis, names, [durationMs, heldBefore ? '1' : '0'])) as string | null;
  if (fence === null) return undefined;
  return {
    fence,
    /** Whether this process may still send, by its own clock. */
    isHeld: () => performance.now() < heldUntil,
    /** Prolongs the lease. Returns false once it is lost. */
    async renew(): Promise<boolean> {
      const renewedUntil = usedFrom(performance.now());
      const isHeld = (await renew(redis, [key], [fence, durationMs])) === 1;
      heldUntil = isHeld ? Math.max(heldUntil, renewedUntil) : 0;
      return isHeld;
    },
    /** Nothing may be sent under it any more; others still have to wait for `release`. */
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

/** The worker that took this job may not serve its endpoint any more: the job goes back to the queue. */
export class LeaseLostError extends AppError {
  readonly code = 'LEASE_LOST';
  readonly retryable = true;

  constructor(endpointId: string) {
    super(`another worker holds ${endpointId}`);
  }
}
