import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work without a turn of others, milliseconds. */
const TURN_MS = 4;

/** Works on items one by one, in turns of some milliseconds: the event loop serves others before each. */
export async function inTurns<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  await nextTurn();
  let startedAt = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - startedAt < TURN_MS) continue;
    await nextTurn();
    startedAt = performance.now();
  }
}
