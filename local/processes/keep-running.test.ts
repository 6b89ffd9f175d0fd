import { expect, test } from 'vitest';
import { ServiceError } from '../services/service-error.ts';
import { startService } from '../services/service-process.ts';
import { always, keepRunning, type RestartRule, whenAsked } from './keep-running.ts';

/** Parts that end one after the other in these ways; the last one runs until it is stopped. */
function startsThatEnd(ways: readonly string[]) {
  const started: string[] = [];
  const start = async () => {
    const way = ways[started.length];
    started.push(way ?? 'runs');
    const stopped = Promise.withResolvers<string>();
    return {
      note: '',
      ended: way === undefined ? stopped.promise : Promise.resolve(way),
      stop: async () => stopped.resolve('exit code 0'),
      recentOutput: () => `log ${started.length}`,
    };
  };
  return { start, started };
}

const atOnce: RestartRule = () => 0;

test('a process that asks for it is started again, until it ends in another way', async () => {
  const { start, started } = startsThatEnd(['exit code 75', 'exit code 75', 'exit code 1']);
  const part = await keepRunning(start, { rule: whenAsked });
  expect(await part.ended).toBe('exit code 1');
  expect(started).toHaveLength(3);
  expect(part.recentOutput?.()).toBe('log 3');
});

test('the process that runs now is the one that is stopped', async () => {
  const { start, started } = startsThatEnd(['exit code 75']);
  const part = await keepRunning(start, { rule: whenAsked });
  await expect.poll(() => started).toEqual(['exit code 75', 'runs']);
  await part.stop();
  expect(await part.ended).toBe('exit code 0');
});

test('a start that fails counts as an end', async () => {
  const { start, started } = startsThatEnd(['exit code 75']);
  const failing = () => (started.length === 0 ? start() : Promise.reject(new Error('no port')));
  const part = await keepRunning(failing, { rule: whenAsked });
  expect(await part.ended).toBe('no port');

  let starts = 0;
  const { start: startAgain, started: again } = startsThatEnd(['signal SIGKILL']);
  const second = () => (++starts === 2 ? Promise.reject(new Error('no port')) : startAgain());
  const ends: string[] = [];
  const kept = await keepRunning(second, { rule: atOnce, onEnd: (how) => ends.push(how) });
  await expect.poll(() => again).toEqual(['signal SIGKILL', 'runs']);
  expect(ends).toEqual(['signal SIGKILL', 'no port']);
  await kept.stop();
});

test('what ended for want of room on the disk says so, while it ran and while it starts', async () => {
  const full = 'PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device';
  let starts = 0;
  const start = async () => {
    if (++starts === 2) throw new ServiceError('Postgres ended while starting (exit code 1)', full);
    const { promise: stopped, resolve } = Promise.withResolvers<string>();
    const ended = starts === 1 ? Promise.resolve('signal SIGABRT') : stopped;
    return { note: '', ended, stop: async () => resolve('exit code 0'), recentOutput: () => full };
  };
  const ends: string[] = [];
  const part = await keepRunning(start, { rule: atOnce, onEnd: (how) => ends.push(how) });
  await expect.poll(() => starts).toBe(3);
  const ways = ['signal SIGABRT', 'Postgres ended while starting (exit code 1)'];
  expect(ends).toEqual(ways.map((how) => `${how}: no space left on the disk`));
  await part.stop();
});

test('a stop during a pause ends it', async () => {
  const { start, started } = startsThatEnd(['exit code 1']);
  const part = await keepRunning(start, { rule: () => 3_600_000 });
  await part.stop();
  expect(await part.ended).toBe('exit code 1');
  expect(started).toHaveLength(1);
});

test('a stop during a start gives that up', async () => {
  const { start, started } = startsThatEnd(['exit code 1']);
  let starts = 0;
  const second = (signal: AbortSignal) =>
    ++starts === 1 ? start() : startService({ name: 'it', command: 'sleep', args: ['60'], ready: /never/, signal });
  const part = await keepRunning(async (signal) => ({ ...(await second(signal)), note: '' }), { rule: atOnce });
  await expect.poll(() => starts).toBe(2);
  const stoppedAt = performance.now();
  await part.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(30_000);
  expect(await part.ended).toBe('it is given up while starting');
  expect(started).toHaveLength(1);
});

test('pauses double up to 30 seconds; who asks to be started again is, once, at once', () => {
  expect([1, 2, 3, 5, 6, 7, 100].map((ends) => always('exit code 1', ends))).toEqual([
    1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000,
  ]);
  expect([1, 2].map((ends) => always('exit code 75', ends))).toEqual([0, 2_000]);
});
