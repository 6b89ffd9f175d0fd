import { EventEmitter, once, setMaxListeners } from 'node:events';
import type pg from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { waitForIndex } from '../db/first-index.ts';
import type { ReadinessCheck } from '../runtime/health.ts';
import type { Logger } from '../runtime/logger.ts';
import { pause } from '../runtime/pause.ts';

/** Work that is repeated; runs are independent of each other. */
export type Job = {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** Shortest pause between two runs. After a long run, the pause is longer, until runs begin `maxPauseMs` apart. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** The job uses results of the others: its first run waits for theirs, but no longer than its shortest pause. */
  readonly afterOthers?: true;
};

export type RunningJobs = {
  /** For each job, why its results are stale, if they are. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** Stops each job after its current run. */
  stop(): Promise<void>;
};

/** A job is idle this many times as long as its run took, so that heavy runs leave the database room for readers. */
const IDLE_PER_RUN = 4;
/** Pauses that may pass without a good run before a job counts as not ready. */
const MAX_MISSED_PAUSES = 4;
/** Most different failures in a row that are logged. */
const MAX_MESSAGES = 10;
const BUCKETS_SECS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Runs all jobs concurrently, once the database has an index for them to read. Each fails and recovers alone. */
export function startJobs(jobs: readonly Job[], database: pg.Pool, metrics: Registry, logger: Logger): RunningJobs {
  const stopping = new AbortController();
  const ended = new EventEmitter();
  // Each job adds listeners.
  setMaxListeners(0, stopping.signal, ended);
  const duration = new Histogram({
    name: 'capture_job_duration_seconds',
    help: 'Time of a run of a job, by result',
    labelNames: ['job', 'result'],
    buckets: BUCKETS_SECS,
    registers: [metrics],
  });
  const lastGood = new Gauge({
    name: 'capture_job_last_success_timestamp_seconds',
    help: 'End of the last successful run of a job',
    labelNames: ['job'],
    registers: [metrics],
  });
  const goodAt = new Map<string, number>();
  const firstIndex = waitForIndex(database, stopping.signal, {
    onWait: () => logger.info({}, 'jobs wait for the first index'),
  });
  const others = jobs.filter(({ afterOthers }) => !afterOthers).map(({ name }) => once(ended, name, stopping));
  const firstRuns = Promise.all(others).catch(() => undefined);
  const running = jobs.map(async (job) => {
    const onRun = (ok: boolean, durationMs: number) => {
      ended.emit(job.name);
      duration.observe({ job: job.name, result: ok ? 'ok' : 'failed' }, durationMs / 1000);
      if (!ok) return;
      goodAt.set(job.name, Date.now());
      lastGood.set({ job: job.name }, Date.now() / 1000);
    };
    await firstIndex;
    if (job.afterOthers) await Promise.race([firstRuns, pause(job.minPauseMs, stopping.signal)]);
    await runJob(job, logger, onRun, stopping.signal);
  });
  const check =
    ({ name, maxPauseMs }: Job) =>
    async () =>
      staleness(goodAt.get(name), maxPauseMs * MAX_MISSED_PAUSES);
  return {
    checks: Object.fromEntries(jobs.map((job) => [job.name, check(job)])),
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/**
 * Runs a job until the signal aborts, and resolves after the current run. Of failures in a row, each message is logged
 * once, and their number at the end. The next run follows after the usual pause, so a job recovers by itself when the chain or the database does.
 *
 * @param onRun called after each run
 */
export async function runJob(
  job: Job,
  logger: Logger,
  onRun: (ok: boolean, durationMs: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const messages = new Set<string>();
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const startedAt = performance.now();
    const failure = await failureOf(job.run());
    const durationMs = performance.now() - startedAt;
    onRun(failure === null, durationMs);
    if (failure) {
      failures += 1;
      const isLogged = messages.has(failure.message) || messages.size === MAX_MESSAGES;
      if (!isLogged) logger.error({ err: failure, job: job.name }, 'job failed');
      if (!isLogged) messages.add(failure.message);
    } else if (failures > 0) {
      logger.info({ job: job.name, failures }, 'job works again');
      failures = 0;
      messages.clear();
    }
    await pause(isFirst ? job.minPauseMs : pauseAfter(job, durationMs), signal);
  }
}

/**
 * Milliseconds to pause after a run of this duration. The first run is not measured this way: it is slow because its
 * code is new to the process.
 */
export function pauseAfter({ minPauseMs, maxPauseMs }: Omit<Job, 'name' | 'run'>, durationMs: number): number {
  return Math.max(Math.min(durationMs * IDLE_PER_RUN, maxPauseMs - durationMs), minPauseMs);
}

/** Gives what a promise rejects with; null when it resolves. */
async function failureOf(work: Promise<unknown>): Promise<Error | null> {
  return work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

function staleness(goodAt: number | undefined, limitMs: number): string | null {
  if (goodAt === undefined) return 'has not succeeded yet';
  const ageMs = Date.now() - goodAt;
  return ageMs > limitMs ? `last succeeded ${Math.round(ageMs / 1000)} s ago` : null;
}
