import type { Redis } from 'ioredis';
import { BEAT_EVERY_MS } from '../../builders/submit/heartbeat.ts';
import type { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';

export type WorkerWatchDeps = {
  /** Must fail at once while Redis is unreachable. */
  readonly redis: Pick<Redis, 'exists'>;
  readonly keys: RedisKeys;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Milliseconds. */
  readonly now?: () => number;
};

const LOOK_EVERY_MS = 1_000;
/** Longer than a worker takes to write its heartbeat again, after a start of its own or of an empty Redis. */
const ABSENT_FOR_MS = BEAT_EVERY_MS + 1_000;

/** Looks for the heartbeat of a builders worker, once a second: without one, nothing sends the updates that are queued. */
export class WorkerWatch {
  readonly #deps: WorkerWatchDeps;
  readonly #now: () => number;
  #absentSince: number | undefined;
  #isMissing = false;
  #stopLooking: (() => void) | undefined;

  constructor(deps: WorkerWatchDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /** Looks again and again until {@link stop}. */
  start(): void {
    this.#stopLooking = startRepeating(() => this.look(), LOOK_EVERY_MS);
  }

  stop(): void {
    this.#stopLooking?.();
  }

  /** Whether no worker runs under the prefix, as far as the looks tell. */
  isMissing(): boolean {
    return this.#isMissing;
  }

  /** One look. Never rejects: while Redis is unreachable, nothing is learned of workers. */
  async look(): Promise<void> {
    const { redis, keys } = this.#deps;
    const found = await redis.exists(keys.heartbeat()).catch(() => undefined);
    if (found !== 0) this.#absentSince = undefined;
    else this.#absentSince ??= this.#now();
    if (found === 1) this.#set(false);
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
