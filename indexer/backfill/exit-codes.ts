import { ReadModelMismatchError, ViewsBusyError } from '../publication/live-views.ts';
import { SchemaTakenError } from '../publication/schema-lock.ts';
import { BuildEndedError } from './build-process.ts';
import { ReadersOfCacheError } from './cached-logs.ts';
import { NodeAwayError } from './node-away.ts';

const REFUSED = 1;
/** The same command may succeed later. */
const RETRY = 75;
/** As shells count them: 128 and the signal's number. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** The operator has stopped the run; it can be gone on with. */
export class InterruptedError extends Error {
  readonly code = 'INTERRUPTED';
  override readonly name = 'InterruptedError';
  readonly exitCode: number;

  constructor(signal: keyof typeof SIGNAL_CODES) {
    super('interrupted: the same command goes on where it was');
    this.exitCode = SIGNAL_CODES[signal];
  }
}

const PASSING = [NodeAwayError, ReadersOfCacheError, SchemaTakenError, ViewsBusyError];

/** What the command exits with after this error; null for one of a setting or the database, or one unforeseen. */
export function exitCodeOf(error: unknown): number | null {
  if (error instanceof InterruptedError || error instanceof BuildEndedError) return error.exitCode;
  if (error instanceof ReadModelMismatchError) return REFUSED;
  return PASSING.some((passing) => error instanceof passing) ? RETRY : null;
}
