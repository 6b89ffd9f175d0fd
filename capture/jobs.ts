import { EventEmitter, once, setMaxListeners } from 'node:events';
import type pg from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { waitForIndex } from '../db/first-index.ts';
import type { ReadinessCheck } from '../runtime/health.ts';
import type { Logger } from '../runtime/logger.ts';
import { pause } from '../runtime/pause.ts';
import type { Job } from './job.ts';
import { type JobState, NEW_JOB, nextRun, type RunResult, staleness } from './job-state.ts';

export type RunningJobs = {
  /** For each job, why its results are stale, if they are. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** Stops each job after its current run. */
  stop(): Promise<void>;
};

const BUCKETS_SECS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Runs all jobs concurrently, once the database has an index for them to read. Each fails and recovers alone.
 *
 * Metrics call a job `task`: Prometheus has a label `job` of its own, in whose favour it renames that of a sample.
 */
export function startJobs(jobs: readonly Job[], database: pg.Pool, metrics: Registry, logger: Logger): RunningJobs {
  const stopping = new AbortController();
  const ended = new EventEmitter();
  // Each job adds listeners.
  setMaxListeners(0, stopping.signal, ended);
  const duration = new Histogram({
    name: 'capture_job_duration_seconds',
    help: 'Time of a run of a job, by result',
    labelNames: ['task', 'result'],
    buckets: BUCKETS_SECS,
    registers: [metrics],
  });
  const lastGood = new Gauge({
    name: 'capture_job_last_success_timestamp_seconds',
    help: 'End of the last successful run of a job',
    labelNames: ['task'],
    registers: [metrics],
  });
  const states = new Map<string, JobState>();
  new Gauge({
    name: 'capture_job_late',
    help: '1 while the last successful run of a job is further back than four of its longest pauses',
    labelNames: ['task'],
    registers: [metrics],
    collect() {
      for (const job of jobs) {
        const state = states.get(job.name);
        if (state) this.set({ task: job.name }, Number(staleness(state, job, Date.now()) !== null));
      }
    },
  });
  const firstIndex = waitForIndex(database, stopping.signal, {
    onWait: () => logger.info({}, 'jobs wait for the first index'),
  });
  const others = jobs.filter(({ afterOthers }) => !afterOthers).map(({ name }) => once(ended, name, stopping));
  const firstRuns = Promise.all(others).catch(() => undefined);
  const running = jobs.map(async (job) => {
    const onRun = (state: JobState, { failure, durationMs }: RunResult) => {
      states.set(job.name, state);
      ended.emit(job.name);
      duration.observe({ task: job.name, result: failure ? 'failed' : 'ok' }, durationMs / 1_000);
      if (state.goodAt !== null) lastGood.set({ task: job.name }, state.goodAt / 1_000);
    };
    await firstIndex;
    if (job.afterOthers) await Promise.race([firstRuns, pause(job.minPauseMs, stopping.signal)]);
    await runJob(job, logger, onRun, stopping.signal);
  });
  const check = (job: Job) => async () => staleness(states.get(job.name) ?? NEW_JOB, job, Date.now());
  return {
    checks: Object.fromEntries(jobs.map((job) => [job.name, check(job)])),
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/**
 * Runs a job until the signal aborts, and resolves after the current run. What it logs and how long it pauses is in
 * `job-state.ts`: a job recovers by itself when the chain or the database does.
 *
 * @param onRun called after each run
 */
export async function runJob(
  job: Job,
  logger: Logger,
  onRun: (state: JobState, result: RunResult) => void,
  signal: AbortSignal,
): Promise<void> {
  let state = NEW_JOB;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const failure = await failureOf(job.run());
    const result = { failure, durationMs: performance.now() - startedAt };
    const { state: next, log, pauseMs } = nextRun(state, result, job, Date.now());
    state = next;
    onRun(state, result);
    if (log && 'failure' in log) logger.error({ err: log.failure, job: job.name }, 'job failed');
    else if (log) logger.info({ job: job.name, failures: log.failures }, 'job works again');
    await pause(pauseMs, signal);
  }
}

/** Gives what a promise rejects with; null when it resolves. */
async function failureOf(work: Promise<unknown>): Promise<Error | null> {
  return work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}
