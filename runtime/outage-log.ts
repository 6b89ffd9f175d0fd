import type { Logger } from './logger.ts';

/** What an {@link OutageLog} writes, and when. */
export interface OutageLogOptions {
  /** The line when an outage begins, such as "Redis is unreachable". */
  readonly begin: string;
  /** The line when it ends, such as "Redis is back". */
  readonly end: string;
  /**
   * Milliseconds without a failure before a success ends an outage, so that something that works now and then does not
   * end it each time. Default: 0.
   */
  readonly quietMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/**
 * Logs a failure that repeats: the first one as a warning with its error, and the end with the number of failures and
 * the seconds from the first to the last.
 */
export class OutageLog {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #options: Required<OutageLogOptions>;
  #failures = 0;
  #beganAt = 0;
  #lastAt = 0;

  constructor(logger: Pick<Logger, 'info' | 'warn'>, options: OutageLogOptions) {
    this.#logger = logger;
    this.#options = { quietMs: 0, now: () => performance.now(), ...options };
  }

  /** Whether something failed within the last `quietMs`. */
  get isFailing(): boolean {
    return this.#failures > 0 && !this.#isQuiet;
  }

  /** @param error must hold no secret; undefined where it would */
  failed(error: unknown): void {
    const now = this.#options.now();
    if (this.#failures === 0) {
      this.#beganAt = now;
      this.#logger.warn({ err: error }, this.#options.begin);
    }
    this.#failures += 1;
    this.#lastAt = now;
  }

  worked(): void {
    if (this.#failures === 0 || !this.#isQuiet) return;
    const secs = Math.round((this.#lastAt - this.#beganAt) / 1_000);
    this.#logger.info({ failures: this.#failures, secs }, this.#options.end);
    this.#failures = 0;
  }

  get #isQuiet(): boolean {
    return this.#options.now() - this.#lastAt >= this.#options.quietMs;
  }
}
