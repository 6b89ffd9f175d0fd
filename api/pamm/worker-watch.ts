import type { Redis } from 'ioredis';
import type { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';

export type WorkerWatchDeps = {
  /** Must fail at once while Redis is unreachable. */
  readonly redis: Pick<Redis, 'exists'>;
  readonly keys: RedisKeys;
  /** The usable builder endpoints; at least one. */
  readonly endpointIds: readonly string[];
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Milliseconds. */
  readonly now?: () => number;
};

const POLL_MS = 1_000;
/** Longer than a worker takes to acquire a lease, after its own start or that of an empty Redis. */
const ABSENT_FOR_MS = 6_000;

/** Looks for the leases of builders workers, once a second: without one, nothing sends the updates that are queued. */
export class WorkerWatch {
  readonly #deps: WorkerWatchDeps;
  readonly #now: () => number;
  #absentSince: number | undefined;
  #isMissing = false;
  #stopPolling: (() => void) | undefined;

  constructor(deps: WorkerWatchDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /** Polls until {@link stop}. */
  start(): void {
    this.#stopPolling = startRepeating(() => this.poll(), POLL_MS);
  }

  stop(): void {
    this.#stopPolling?.();
  }

  /** Whether no worker runs under the prefix, as far as is known. */
  isMissing(): boolean {
    return this.#isMissing;
  }

  /** Never rejects: while Redis is unreachable, nothing is learned of workers. */
  async poll(): Promise<void> {
    const { redis, keys, endpointIds } = this.#deps;
    const leases = await redis.exists(endpointIds.map(keys.lease)).catch(() => undefined);
    if (leases !== 0) this.#absentSince = undefined;
    else this.#absentSince ??= this.#now();
    if (leases) this.#set(false);
    else if (this.#absentSince !== undefined && this.#now() - this.#absentSince > ABSENT_FOR_MS) this.#set(true);
  }

  #set(isMissing: boolean): void {
    if (this.#isMissing === isMissing) return;
    this.#isMissing = isMissing;
    const { keys, logger } = this.#deps;
    const details = { queuePrefix: keys.prefix };
    if (isMissing) logger.warn(details, 'no builders worker runs under this QUEUE_PREFIX: quote updates stay pending');
    else logger.info(details, 'a builders worker runs again');
  }
}
