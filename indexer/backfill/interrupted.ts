import { AppError } from '../../config/app-error.ts';

/** As shells count them: 128 and the signal's number. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** The operator has stopped the run. */
export class InterruptedError extends AppError {
  readonly code = 'INTERRUPTED';
  readonly retryable = true;
  readonly #signal: keyof typeof SIGNAL_CODES;

  constructor(signal: keyof typeof SIGNAL_CODES) {
    super('interrupted: the same command goes on where it was');
    this.#signal = signal;
  }

  override get exitCode(): number {
    return SIGNAL_CODES[this.#signal];
  }
}
