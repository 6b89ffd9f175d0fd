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
export class Lease {
  readonly fence: string;
  readonly #redis: Redis;
  readonly #key: string;
  readonly #durationMs: number;
  #heldUntil: number;

  private constructor(redis: Redis, key: string, fence: string, durationMs: number, askedAt: number) {
    this.#redis = redis;
    this.#key = key;
    this.fence = fence;
    this.#durationMs = durationMs;
    this.#heldUntil = askedAt + durationMs * USED_SHARE;
  }

  /**
   * Tries to take an endpoint's lease.
   *
   * @param heldBefore whether this process has held it already: it then remembers what was sent, and after a loss of
   *   Redis' data comes before those that do not
   * @returns undefined while another worker holds it
   */
  static async acquire(
    redis: Redis,
    keys: RedisKeys,
    endpointId: string,
    { durationMs, heldBefore }: { durationMs: number; heldBefore: boolean },
  ): Promise<Lease | undefined> {
    const askedAt = performance.now();
    const names = [keys.lease(endpointId), keys.lastFence(endpointId), keys.epoch()];
    const fence = await acquire(redis, names, [durationMs, durationMs, heldBefore ? '1' : '0']);
    return fence ? new Lease(redis, keys.lease(endpointId), fence as string, durationMs, askedAt) : undefined;
  }

  /** Whether this process may still send, by its own clock. */
  isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /** Prolongs the lease. Returns false once it is lost. */
  async renew(): Promise<boolean> {
    const askedAt = performance.now();
    const held = (await renew(this.#redis, [this.#key], [this.fence, this.#durationMs])) === 1;
    this.#heldUntil = held ? Math.max(this.#heldUntil, askedAt + this.#durationMs * USED_SHARE) : 0;
    return held;
  }

  /** Nothing may be sent under it any more; others still have to wait for {@link release}. */
  finish(): void {
    this.#heldUntil = 0;
  }

  /** Leaves it to others at once. */
  async release(): Promise<void> {
    this.finish();
    await renew(this.#redis, [this.#key], [this.fence, 0]);
  }
}

/** The worker that took this job may not serve its endpoint any more: the job goes back to the queue. */
export class LeaseLostError extends AppError {
  readonly code = 'LEASE_LOST';
  readonly retryable = true;

  constructor(endpointId: string) {
    super(`another worker holds ${endpointId}`);
  }
}
