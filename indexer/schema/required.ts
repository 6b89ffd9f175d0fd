import { AppError } from '../../config/app-error.ts';

/** The index lacks a row that an event refers to. It is corrupt, and further events would make it worse. */
export class MissingRowError extends AppError {
  readonly code = 'MISSING_ROW';
  readonly retryable = false;
}

/** @throws MissingRowError when the row is null */
export function required<T>(row: T | null, what: string, key: string): T {
  if (row === null) throw new MissingRowError(`no ${what} ${key} in the index`);
  return row;
}
