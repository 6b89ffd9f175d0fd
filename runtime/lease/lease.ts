import type { Redis } from 'ioredis';
import { loadScript } from '../redis-script.ts';
import { leftMs, NEW_TERM, nextTerm, type TermEvent } from './term.ts';

const acquire = loadScript('./acquire.lua', import.meta.url);
const renew = loadScript('./renew.lua', import.meta.url);

/** Redis key of a lease whose holders need no fencing, and the name of this one among them. */
interface LeaseKeys {
  readonly lease: string;
  readonly holder: string;
}

/** Redis keys of a lease, of its last fencing token, and of the time since which this Redis has had its data. */
export interface FencedLeaseKeys {
  readonly lease: string;
  readonly fence: string;
  readonly epoch: string;
}

interface LeaseRequest {
  readonly redis: Pick<Redis, 'eval'>;
  readonly keys: LeaseKeys | FencedLeaseKeys;
  readonly durationMs: number;
  /**
   * Whether this process may take a lease with fencing at once after Redis has lost its data. Other processes wait for
   * the duration of a lease, since a previous holder may remember what it did. Default: false.
   */
  readonly comesFirst?: boolean;
}

/**
 * Tries to take a lease, with one command. A holder without fencing gets its lease again:
 * it may have missed the answer.
 *
 * @returns undefined while another process holds it
 */
export async function acquireLease(request: LeaseRequest): Promise<Lease | undefined> {
  const { redis, keys, durationMs, comesFirst = false } = request;
  const askedAt = performance.now();
  const [names, holder] = 'fence' in keys ? [[keys.lease, keys.fence, keys.epoch], ''] : [[keys.lease], keys.holder];
  const token = (await acquire(redis, names, [durationMs, comesFirst ? '1' : '0', holder])) as string | null;
  return token === null ? undefined : new Lease(request, token, askedAt);
}

/**
 * The right to be the only process that does some work, from when it was taken until it is lost or given up. Redis ends
 * a lease that is not renewed. The holder knows that end by its own monotonic clock.
 */
export class Lease {
  readonly fence: string;
  readonly #request: LeaseRequest;
  #term = NEW_TERM;

  /**
   * @param fence the token of this holder. Where a lease has fencing, it is higher than those of all earlier holders,
   * even after Redis has lost its data, and whatever a holder writes must be checked by it
   */
  constructor(request: LeaseRequest, fence: string, askedAt: number) {
    this.fence = fence;
    this.#request = request;
    this.#next({ kind: 'granted', askedAt });
  }

  /** Whether this process still holds it, by its own clock. */
  isHeld(): boolean {
    return this.leftMs() > 0;
  }

  /** For how many milliseconds this process still holds it, unless it is prolonged; 0 once it is over. */
  leftMs(): number {
    return leftMs(this.#term, performance.now());
  }

  /** Prolongs the lease, with one command. @returns false once it is lost */
  async renew(): Promise<boolean> {
    const askedAt = performance.now();
    const isRenewed = (await this.#expire(this.#request.durationMs)) === 1;
    this.#next(isRenewed ? { kind: 'granted', askedAt } : { kind: 'ended' });
    return isRenewed;
  }

  /** Ends the use of the lease by this process. Other processes still wait for `release`. */
  finish(): void {
    this.#next({ kind: 'ended' });
  }

  /** Gives the lease up, so that other processes may take it at once. */
  async release(): Promise<void> {
    this.finish();
    await this.#expire(0);
  }

  #expire(durationMs: number): Promise<unknown> {
    return renew(this.#request.redis, [this.#request.keys.lease], [this.fence, durationMs]);
  }

  #next(event: TermEvent): void {
    this.#term = nextTerm(this.#term, event, this.#request.durationMs);
  }
}
