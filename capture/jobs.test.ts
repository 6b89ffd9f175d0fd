import { expect, test, vi } from 'vitest';
import { createLogger, type Logger } from '../runtime/logger.ts';
import { type Job, pauseAfter, runJob } from './jobs.ts';

const logger = createLogger('test', 'silent');
/** @param onRun called after each run */
function startJob(job: Job, onRun: (ok: boolean) => void = () => undefined) {
  const stopping = new AbortController();
  const done = runJob(job, logger, onRun, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return done;
    },
  };
}

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 30_000, interval: 5 });

test('a job that fails is run again, whatever it throws, and reports each run', async () => {
  const rounds: boolean[] = [];
  let calls = 0;
  const run = async () => {
    calls += 1;
    if (calls === 1) throw new Error('the chain is unreachable');
    if (calls === 2) throw undefined;
  };
  const job = startJob({ name: 'it', run, minPauseMs: 1, maxPauseMs: 5 }, (ok) => rounds.push(ok));
  await until(() => rounds.length >= 4);
  await job.stop();
  expect(rounds.slice(0, 4)).toEqual([false, false, true, true]);
});

test('failures in a row are logged once each, whatever their order, and counted when the job works again', async () => {
  const lines: unknown[] = [];
  const note = ({ err, failures }: { err?: Error; failures?: number }) => lines.push(err?.message ?? failures);
  const recording = { error: note, info: note } as unknown as Logger;
  const messages = ['no node', 'no answer', 'no node', 'no answer', 'no node', null, 'no node', null];
  let runs = 0;
  const run = async () => {
    const message = messages[runs++];
    if (message) throw new Error(message);
  };
  const stopping = new AbortController();
  const onRun = () => runs === messages.length && stopping.abort();
  await runJob({ name: 'it', run, minPauseMs: 1, maxPauseMs: 5 }, recording, onRun, stopping.signal);
  expect(lines).toEqual(['no node', 'no answer', 5, 'no node', 1]);
});

test.each([
  ['four times as long as a run took', 100, 400],
  ['until runs begin the longest pause apart', 800, 200],
  ['the shortest pause at least', 2_000, 50],
])('a job is idle %s', (_name, durationMs, idleMs) => {
  expect(pauseAfter({ minPauseMs: 50, maxPauseMs: 1_000 }, durationMs)).toBe(idleMs);
});

test('the second run comes after the shortest pause, however long the first one took', async () => {
  const begun: number[] = [];
  const run = async () => {
    begun.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const job = startJob({ name: 'it', run, minPauseMs: 1, maxPauseMs: 1_000_000 });
  await until(() => begun.length === 3);
  await job.stop();
  const [first = 0, second = 0, third = 0] = begun;
  expect(third - second).toBeGreaterThan(490);
  expect(second - first).toBeLessThan(third - second);
});

test('a stop waits for the round in hand, ends the pause, and starts no other round', async () => {
  let started = 0;
  let finished = 0;
  const run = async () => {
    started += 1;
    await new Promise((resolve) => setTimeout(resolve, 30));
    finished += 1;
  };
  const job = startJob({ name: 'it', run, minPauseMs: 60_000, maxPauseMs: 60_000 });
  await until(() => started === 1);
  await job.stop();
  expect([started, finished]).toEqual([1, 1]);
});
