import type { Logger } from '../runtime/logger.ts';
import { pause } from '../runtime/pause.ts';
import { loggableError } from './loggable-error.ts';

/** Work that is done again and again, each round on its own. */
export type Job = {
  readonly name: string;
  /** Does one round. */
  readonly run: () => Promise<unknown>;
  /** Shortest pause between two rounds; a round that takes long stretches it, until rounds begin `maxPauseMs` apart. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
};

/** A job is idle this many times as long as a run took, so that heavy runs leave the database room for readers. */
const IDLE_PER_RUN = 4;

export type RunningJob = {
  /** Stops after the round in hand. */
  stop(): Promise<void>;
};

/**
 * Runs a job until it is stopped. A round that fails is logged, once per kind of failure in a row, and the next one
 * comes after the usual pause: a job recovers by itself when the chain or the database does.
 *
 * @param onRound told how each round went
 * @param begin what the first round waits for; it has to settle before {@link RunningJob.stop} can
 */
export function startJob(
  job: Job,
  logger: Logger,
  onRound: (ok: boolean, durationMs: number) => void,
  begin?: Promise<void>,
): RunningJob {
  const wake = new AbortController();
  const loop = async () => {
    await begin;
    let lastFailure: string | null = null;
    while (!wake.signal.aborted) {
      const startedAt = performance.now();
      const failure = await runRound(job);
      const durationMs = performance.now() - startedAt;
      onRound(failure === null, durationMs);
      const message = failure === null ? null : describe(failure);
      if (failure !== null && message !== lastFailure)
        logger.error({ err: loggableError(failure), job: job.name }, 'job failed');
      if (failure === null && lastFailure !== null) logger.info({ job: job.name }, 'job works again');
      lastFailure = message;
      await pause(pauseMs(job, durationMs), wake.signal);
    }
  };
  const done = loop();
  return {
    stop: () => {
      wake.abort();
      return done;
    },
  };
}

/** Rounds begin at most `maxPauseMs` apart, as long as one takes less than that. */
function pauseMs({ minPauseMs, maxPauseMs }: Job, durationMs: number): number {
  const rest = Math.min(durationMs * IDLE_PER_RUN, maxPauseMs - durationMs);
  return Math.max(rest, minPauseMs);
}

async function runRound(job: Job): Promise<unknown> {
  try {
    await job.run();
    return null;
  } catch (error) {
    return error ?? new Error('rejected without a reason');
  }
}

function describe(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
