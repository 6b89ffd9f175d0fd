import { nextTurn } from './next-turn.ts';

/** Longest work before the event loop may serve others, milliseconds. */
const TURN_MS = 4;

/** Runs a computation to its result, in turns of a few milliseconds. Between turns, the event loop serves others. */
export async function finishYielding<T>(steps: Iterator<unknown, T>): Promise<T> {
  for (let startedAt = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - startedAt < TURN_MS) continue;
    await nextTurn();
    startedAt = performance.now();
  }
}

/** Works on items one by one, in turns as {@link finishYielding} does. The first turn is not the caller's. */
export async function forEachYielding<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  await nextTurn();
  await finishYielding(each(items, work));
}

function* each<T>(items: Iterable<T>, work: (item: T) => void) {
  for (const item of items) yield work(item);
}
