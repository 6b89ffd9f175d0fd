import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { isAlive } from '../services/processes.fixture.ts';
import { startService } from '../services/service-process.ts';
import { Progress } from './progress.ts';
import { type Part, Supervisor } from './supervisor.ts';

let out: PassThrough;
let supervisor: Supervisor;
let events: string[];

beforeEach(() => {
  out = new PassThrough();
  supervisor = new Supervisor(new Progress(out));
  events = [];
});

/** A part that notes when it starts and stops. */
const part =
  (name: string, extra: Partial<Part> = {}) =>
  async (): Promise<Part> => {
    events.push(`start ${name}`);
    return { note: `at ${name}`, stop: async () => void events.push(`stop ${name}`), ...extra };
  };

const process = (script: string) => async () => {
  const service = await startService({
    name: 'a process',
    command: globalThis.process.execPath,
    args: ['-e', `${script}; console.log("ready")`],
    ready: /ready/,
  });
  return { ...service, note: '' };
};

test('parts stop in the reverse of the order in which they became ready', async () => {
  for (const name of ['first', 'second', 'third']) await supervisor.start(name, part(name));
  expect(await supervisor.stop()).toEqual([]);
  expect(events.slice(3)).toEqual(['stop third', 'stop second', 'stop first']);
});

test('a part that cannot be stopped is named, and the others still stop', async () => {
  await supervisor.start('first', part('first'));
  await supervisor.start('bad', part('bad', { stop: () => Promise.reject(new Error('stuck')) }));
  expect(await supervisor.stop()).toEqual(['bad: Error: stuck']);
  expect(events).toContain('stop first');
});

describe('a process that ends by itself', () => {
  test('is a failure with the way it ended and its last lines', async () => {
    const script = 'process.on("SIGUSR2", () => { console.log("why"); process.exit(7); }); setInterval(() => {}, 1000)';
    const worker = await supervisor.start('worker', process(script));
    globalThis.process.kill(worker.pid, 'SIGUSR2');
    await expect(supervisor.failure).rejects.toMatchObject({
      message: 'worker ended by itself (exit code 7)',
      log: expect.stringContaining('why'),
    });
    await supervisor.stop();
  });

  test('is none once the stop has begun', async () => {
    const worker = await supervisor.start('worker', process('setInterval(() => {}, 1000)'));
    await supervisor.stop();
    expect(isAlive(worker.pid)).toBe(false);
    await expect(Promise.race([supervisor.failure, 'no failure'])).resolves.toBe('no failure');
  });
});

test('a stop also ends what is still starting', async () => {
  let pid = 0;
  const starting = supervisor.start('slow', async () => {
    const service = await startService({
      name: 'slow',
      command: globalThis.process.execPath,
      args: ['-e', 'console.log(process.pid); setInterval(() => {}, 1000)'],
      ready: async () => false,
      output: new PassThrough().on('data', (chunk) => {
        pid = Number(chunk);
      }),
    });
    return { ...service, note: '' };
  });
  const failed = expect(starting).rejects.toThrow('slow ended while starting');
  await vi.waitUntil(() => pid !== 0, { interval: 10, timeout: 20_000 });
  await supervisor.stop();
  await failed;
  expect(isAlive(pid)).toBe(false);
});

test('a part that becomes ready during the stop is stopped too', async () => {
  const late = Promise.withResolvers<Part>();
  const starting = supervisor.start('late', () => late.promise);
  const refused = expect(starting).rejects.toThrow('late is not started');
  const stopped = supervisor.stop();
  late.resolve(await part('late')());
  await Promise.all([refused, stopped]);
  expect(events).toEqual(['start late', 'stop late']);
});

test('nothing is started once the stop has begun', async () => {
  await supervisor.stop();
  await expect(supervisor.start('late', part('late'))).rejects.toThrow('late is not started');
  expect(events).toEqual([]);
});

test('without a terminal there is one line per part, and no spinner', async () => {
  await supervisor.start('postgres', part('postgres'));
  await supervisor.start('redis', part('redis'));
  out.end();
  const lines = (await text(out)).trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^ {2}ready {2}postgres +\d+\.\d s {2}at postgres$/);
});
