import type pg from 'pg';
import { Registry } from 'prom-client';
import { beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../runtime/logger.ts';
import { pass, stopTime } from '../test/harness/stopped-time.ts';
import type { Job } from './job.ts';
import { runJob, startJobs } from './jobs.ts';

const logger = createLogger('test', 'silent');
/** @param onRun called after each run */
function startJob(job: Job, onRun: (ok: boolean) => void = () => undefined) {
  const stopping = new AbortController();
  const done = runJob(job, logger, (_state, { failure }) => onRun(failure === null), stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}

beforeEach(stopTime);

test('a job that fails is run again, whatever it throws, and reports each run', async () => {
  const rounds: boolean[] = [];
  let calls = 0;
  const run = async () => {
    calls += 1;
    if (calls === 1) throw new Error('the chain is unreachable');
    if (calls === 2) throw undefined;
  };
  const job = startJob({ name: 'it', run, minPauseMs: 1_000, maxPauseMs: 1_000 }, (ok) => rounds.push(ok));
  const reported: number[] = [];
  for (let second = 0; second < 4; second += 1) {
    await pass(second === 0 ? 0 : 1_000);
    reported.push(rounds.length);
  }
  await job.stop();
  expect(reported).toEqual([1, 2, 3, 4]);
  expect(rounds).toEqual([false, false, true, true]);
});

test('a stop waits for the round in hand, ends the pause, and starts no other round', async () => {
  let started = 0;
  let stopped = 0;
  const inHand = Promise.withResolvers<void>();
  const run = () => {
    started += 1;
    return inHand.promise;
  };
  const job = startJob({ name: 'it', run, minPauseMs: 60_000, maxPauseMs: 60_000 });
  await pass(0);
  const end = job.stop().then(() => {
    stopped += 1;
  });
  await new Promise(setImmediate);
  expect(stopped).toBe(0);
  inHand.resolve();
  await end;
  expect([started, stopped]).toEqual([1, 1]);
});

test('samples say which job is late by its own pace, under a label that Prometheus does not rename', async () => {
  const indexed = { query: async () => ({ rows: [{ schema: 'onchain_1' }] }) } as unknown as pg.Pool;
  const metrics = new Registry();
  const pace = (name: string, secs: number) => ({ name, minPauseMs: secs * 1_000, maxPauseMs: secs * 1_000 });
  let calls = 0;
  const once = async () => {
    calls += 1;
    if (calls > 1) throw new Error('the chain is unreachable');
  };
  const all = [
    { ...pace('quick', 15), run: once },
    { ...pace('hourly', 3_600), run: async () => undefined },
    { ...pace('failing', 15), run: () => Promise.reject(new Error('no')) },
  ];
  const now = vi.spyOn(Date, 'now').mockReturnValue(0);
  const jobs = startJobs(all, indexed, metrics, logger);
  const late = async () => {
    const { values = [] } = (await metrics.getSingleMetric('capture_job_late')?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [labels.task, value]));
  };
  expect(await late()).toEqual({});
  await pass(0);
  expect(await late()).toEqual({ quick: 0, hourly: 0, failing: 1 });
  now.mockReturnValue(60_001);
  expect(await late()).toEqual({ quick: 1, hourly: 0, failing: 1 });
  expect(await metrics.metrics()).not.toMatch(/[{,](job|instance)=/);
  now.mockRestore();
  const stopped = jobs.stop();
  await pass(0);
  await stopped;
});
