import type { Pace } from './job.ts';

/** What is known of the runs of a job. */
export interface JobState {
  readonly runs: number;
  /** Failures since the last good run. */
  readonly failures: number;
  /** Messages of these that were logged. */
  readonly logged: readonly string[];
  /** End of the last good run, Unix milliseconds; null before the first. */
  readonly goodAt: number | null;
}

export interface RunResult {
  readonly durationMs: number;
  /** Null after a good run. */
  readonly failure: Error | null;
}

/** What the end of a run makes of a job: what to log, and how long to pause. */
export interface RunEffects {
  /** The failure, or the number of failures before this good run. */
  readonly log: { readonly failure: Error } | { readonly failures: number } | null;
  readonly pauseMs: number;
}

/** A job is idle this many times as long as its run took, so that heavy runs leave the database room for readers. */
const IDLE_PER_RUN = 4;
/** Pauses that may pass without a good run before a job counts as not ready. */
const MAX_MISSED_PAUSES = 4;
/** Most different failures in a row that are logged. */
export const MAX_MESSAGES = 10;

export const NEW_JOB: JobState = { runs: 0, failures: 0, logged: [], goodAt: null };

/**
 * Takes the end of a run.
 *
 * 1. Of failures in a row, each message is logged once, ten messages at most, and their number after the next good run.
 * 2. A pause is four times as long as the run, until runs begin the longest pause apart, and never below the shortest.
 * 3. The pause after the first run is the shortest: that run is slow because its code is new to the process.
 *
 * @param now Unix milliseconds
 */
export function nextRun(
  state: JobState,
  { durationMs, failure }: RunResult,
  { minPauseMs, maxPauseMs }: Pace,
  now: number,
): RunEffects & { readonly state: JobState } {
  const idleMs = Math.max(Math.min(durationMs * IDLE_PER_RUN, maxPauseMs - durationMs), minPauseMs);
  const pauseMs = state.runs === 0 ? minPauseMs : idleMs;
  const runs = state.runs + 1;
  if (!failure) {
    const log = state.failures > 0 ? { failures: state.failures } : null;
    return { state: { runs, failures: 0, logged: [], goodAt: now }, log, pauseMs };
  }
  const { logged, goodAt } = state;
  const isNew = !logged.includes(failure.message) && logged.length < MAX_MESSAGES;
  const next = { runs, failures: state.failures + 1, logged: isNew ? [...logged, failure.message] : logged, goodAt };
  return { state: next, log: isNew ? { failure } : null, pauseMs };
}

/** Why the results of a job are stale; null when they are not. @param now Unix milliseconds */
export function staleness({ goodAt }: JobState, { maxPauseMs }: Pace, now: number): string | null {
  if (goodAt === null) return 'has not succeeded yet';
  const ageMs = now - goodAt;
  return ageMs > maxPauseMs * MAX_MISSED_PAUSES ? `last succeeded ${Math.round(ageMs / 1000)} s ago` : null;
}
