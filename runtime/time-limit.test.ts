import { expect, test } from 'vitest';
import { nextTurn } from './next-turn.ts';
import { standStill } from './stand-still.fixture.ts';
import { withTimeLimit } from './time-limit.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('a process that stood still over the limit takes what came meanwhile', async () => {
  const came = withTimeLimit(300, async (signal) => {
    standStill(600);
    // What came is taken in further turns.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    return signal.aborted;
  });
  expect(await came).toBe(false);
});

test('what takes too long is aborted as by any timeout, also where the process stood still', async () => {
  for (const ms of [0, 350]) {
    const late = withTimeLimit(50, aborted);
    standStill(ms);
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
  }
});
