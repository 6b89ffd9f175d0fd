import { AppError } from '../../config/app-error.ts';

/** The index does not hold what an event builds on: it is corrupt, and going on would make it worse. */
export class MissingRowError extends AppError {
  readonly code = 'MISSING_ROW';
  readonly retryable = false;
}

/** @throws MissingRowError when a row that must be there is not */
export function required<T>(row: T | null, what: string, key: string): T {
  if (row === null) throw new MissingRowError(`no ${what} ${key} in the index`);
  return row;
}
