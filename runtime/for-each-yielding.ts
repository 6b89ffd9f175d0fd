import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work without a turn of others, milliseconds. */
const TURN_MS = 4;

/** Runs a computation to its result, in turns of some milliseconds: where it yields, the event loop may serve others. */
export async function finishYielding<T>(steps: Iterator<unknown, T>): Promise<T> {
  for (let startedAt = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - startedAt < TURN_MS) continue;
    await nextTurn();
    startedAt = performance.now();
  }
}

/** Works on items one by one, in such turns, the first of which is a later one. */
export async function forEachYielding<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  await nextTurn();
  await finishYielding(each(items, work));
}

function* each<T>(items: Iterable<T>, work: (item: T) => void) {
  for (const item of items) yield work(item);
}
