import { constants } from 'node:os';
import { AppError } from '../../config/app-error.ts';

type Signal = 'SIGINT' | 'SIGTERM';

/** The operator has stopped the run. */
export class InterruptedError extends AppError {
  readonly code = 'INTERRUPTED';
  readonly retryable = true;
  readonly #signal: Signal;

  constructor(signal: Signal) {
    super('interrupted: the same command continues');
    this.#signal = signal;
  }

  /** 128 plus the number of the signal, as shells report it. */
  override get exitCode(): number {
    return 128 + constants.signals[this.#signal];
  }
}
