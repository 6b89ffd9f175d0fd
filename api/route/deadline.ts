import { setMaxListeners } from 'node:events';
import { unavailable } from '../errors.ts';

/** The time that a request may take: its signal stops waiting, its check stops computing. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #end: number;

  constructor(milliseconds: number) {
    this.signal = AbortSignal.timeout(milliseconds);
    // Each pool that is waited for listens to it.
    setMaxListeners(0, this.signal);
    this.#end = performance.now() + milliseconds;
  }

  /**
   * For loops that do not yield: the timer cannot fire while they run.
   *
   * @throws ApiError 503 when the time is over
   */
  readonly check = (): void => {
    if (this.signal.aborted || performance.now() > this.#end) throw unavailable();
  };

  /** @throws ApiError 503 when the time is over before the promise is settled; what it does is not stopped by this */
  async within<T>(promise: Promise<T>): Promise<T> {
    this.check();
    let expire: () => void = () => undefined;
    const expired = new Promise<never>((_, reject) => {
      expire = () => reject(unavailable());
      this.signal.addEventListener('abort', expire);
    });
    try {
      return await Promise.race([promise, expired]);
    } finally {
      this.signal.removeEventListener('abort', expire);
    }
  }
}
