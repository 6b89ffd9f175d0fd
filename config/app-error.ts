/** "Try again", as sysexits.h calls it. */
export const EXIT_RETRY = 75;

/**
 * Base class of our own errors. The message is `shortMessage`, with `: details` where there are details.
 *
 * Invariant: neither part holds a secret, such as the URL of a node, since both are logged and shown to operators.
 */
export abstract class AppError extends Error {
  /** For programs: it stays when the wording changes. */
  abstract readonly code: string;
  /** Whether the same action may succeed later with the same settings and code. */
  abstract readonly retryable: boolean;
  readonly shortMessage: string;

  /** @param options `details`: what was particular this time, such as the error message of Postgres */
  constructor(shortMessage: string, options: { readonly details?: string; readonly cause?: unknown } = {}) {
    super(options.details === undefined ? shortMessage : `${shortMessage}: ${options.details}`, options);
    this.name = new.target.name;
    this.shortMessage = shortMessage;
  }

  /** Exit code of a process that this error ends. */
  get exitCode(): number {
    return this.retryable ? EXIT_RETRY : 1;
  }
}
