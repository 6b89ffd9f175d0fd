import { expect, test } from 'vitest';
import { type ProcessPart, startAgain } from './processes.ts';

/** Parts that end one after the other in these ways; the last one runs until it is stopped. */
function startsThatEnd(ways: readonly string[]) {
  const started: string[] = [];
  const start = async (): Promise<ProcessPart> => {
    const way = ways[started.length];
    started.push(way ?? 'runs');
    let end: (how: string) => void = () => undefined;
    const stopped = new Promise<string>((resolve) => {
      end = resolve;
    });
    const stop = async () => end('exit code 0');
    const ended = way === undefined ? stopped : Promise.resolve(way);
    return { url: 'http://127.0.0.1:1', note: '', ended, stop, recentOutput: () => `log ${started.length}` };
  };
  return { start, started };
}

test('a process that asks for it is started again, until it ends in another way', async () => {
  const { start, started } = startsThatEnd(['exit code 75', 'exit code 75', 'exit code 1']);
  const part = await startAgain(start);
  expect(await part.ended).toBe('exit code 1');
  expect(started).toHaveLength(3);
  expect(part.recentOutput?.()).toBe('log 3');
});

test('the process that runs now is the one that is stopped', async () => {
  const { start, started } = startsThatEnd(['exit code 75']);
  const part = await startAgain(start);
  await new Promise(setImmediate);
  expect(started).toEqual(['exit code 75', 'runs']);
  await part.stop();
  expect(await part.ended).toBe('exit code 0');
});

test('a second start that fails is an end', async () => {
  const { start, started } = startsThatEnd(['exit code 75']);
  const part = await startAgain(() => (started.length === 0 ? start() : Promise.reject(new Error('no port'))));
  expect(await part.ended).toBe('Error: no port');
});
