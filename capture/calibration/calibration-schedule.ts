import { STORAGE } from '../../protocol/stored-layout.ts';
import type { CalibrationRow } from './calibration-rows.ts';

/** The pause between two attempts doubles from a minute to an hour. */
const MIN_BACKOFF_SECS = 60;
const MAX_BACKOFF_SECS = 3_600;

/** By finding, what is decided; null while it is undecided. */
export type Decisions = ReadonlyMap<string, string | null>;

export const decisions = (rows: readonly Pick<CalibrationRow, 'what' | 'decided'>[]): Decisions =>
  new Map(rows.map(({ what, decided }) => [what, decided]));

/**
 * Whether the pause since the last attempt is over. An attempt tries every name;
 * that of the storage may be decided before.
 *
 * 1. A factory whose names are all decided is never due, one that was not tried always.
 * 2. After `n` attempts the pause is a minute times two to the `n - 1`, at most an hour.
 *
 * @param now Unix milliseconds
 */
export function isAttemptDue(
  rows: readonly Pick<CalibrationRow, 'what' | 'decided' | 'tries' | 'decidedAt'>[],
  names: readonly string[],
  now: number,
): boolean {
  const decided = decisions(rows);
  if (names.every((name) => (decided.get(name) ?? null) !== null)) return false;
  const tried = rows.filter(({ what }) => what !== STORAGE);
  const tries = Math.max(0, ...tried.map((row) => row.tries));
  if (tries === 0) return true;
  const pauseSecs = Math.min(MIN_BACKOFF_SECS * 2 ** (tries - 1), MAX_BACKOFF_SECS);
  const lastTry = Math.max(...tried.map(({ decidedAt }) => decidedAt.getTime()));
  return now - lastTry >= pauseSecs * 1000;
}
