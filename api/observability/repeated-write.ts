import type { Logger } from '../../runtime/logger.ts';

export interface RepeatedWriteOptions {
  /** Names what is written, in the log. */
  readonly what: string;
  /** Writes what waits. @returns number of rows written */
  readonly write: () => Promise<number>;
  readonly pauseMs: number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Writes to the database beside the requests, every so often. Of failures in a row the first is logged, and their end. */
export class RepeatedWrite {
  readonly #options: RepeatedWriteOptions;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: RepeatedWriteOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.flush(), options.pauseMs).unref();
  }

  /** Writes what waits. Never rejects. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Ends the writing, after what waits was tried once more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.flush();
  }

  async #write(): Promise<void> {
    const { what, write, logger } = this.#options;
    try {
      const rows = await write();
      if (rows === 0) return;
      if (this.#isFailing) logger.info(`${what} are written again`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, `${what} were not written: they wait`);
      this.#isFailing = true;
    }
  }
}
