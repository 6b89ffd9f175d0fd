import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Queryable } from '../db/transaction.ts';
import type { ReadinessCheck } from '../runtime/health.ts';
import type { Logger } from '../runtime/logger.ts';
import { firstIndex } from './first-index.ts';
import { type Job, startJob } from './job.ts';

export type RunningJobs = {
  /** By job: why its results are out of date, if they are. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  stop(): Promise<void>;
};

const BUCKETS_SECS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Pauses that may pass without a good round before a job counts as not ready. */
const PATIENCE = 4;

/** Runs all jobs side by side once the database has an index; each fails and recovers alone. */
export function startJobs(jobs: readonly Job[], database: Queryable, metrics: Registry, logger: Logger): RunningJobs {
  const stopping = new AbortController();
  const begin = firstIndex(database, logger, stopping.signal);
  const duration = new Histogram({
    name: 'capture_job_duration_seconds',
    help: 'Time of a round of a job, by result',
    labelNames: ['job', 'result'],
    buckets: BUCKETS_SECS,
    registers: [metrics],
  });
  const lastGood = new Gauge({
    name: 'capture_job_last_success_timestamp_seconds',
    help: 'End of the last good round of a job',
    labelNames: ['job'],
    registers: [metrics],
  });
  const running = jobs.map((job) => {
    let goodAt: number | null = null;
    const onRound = (ok: boolean, durationMs: number) => {
      duration.observe({ job: job.name, result: ok ? 'ok' : 'failed' }, durationMs / 1000);
      if (!ok) return;
      goodAt = Date.now();
      lastGood.set({ job: job.name }, goodAt / 1000);
    };
    const { stop } = startJob(job, logger, onRound, begin);
    const check: ReadinessCheck = async () => staleness(goodAt, job.maxPauseMs * PATIENCE);
    return { name: job.name, stop, check };
  });
  return {
    checks: Object.fromEntries(running.map(({ name, check }) => [name, check])),
    stop: async () => {
      stopping.abort();
      await Promise.all(running.map(({ stop }) => stop()));
    },
  };
}

function staleness(goodAt: number | null, limitMs: number): string | null {
  if (goodAt === null) return 'has not succeeded yet';
  const ageMs = Date.now() - goodAt;
  return ageMs > limitMs ? `last succeeded ${Math.round(ageMs / 1000)} s ago` : null;
}
