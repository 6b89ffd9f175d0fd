import { setTimeout as sleep } from 'node:timers/promises';
import { SnapshotError } from '../snapshot-error.ts';

/** Results of many items, in the order of the items. */
export type Outcomes<T> = readonly (T | SnapshotError)[];

/** Items that are asked for within this time share a run. */
const BATCH_MS = 2;

/** Makes a read of one item from a run over many: items of one key that come within `BATCH_MS` share a run. */
export function batched<K, I, R>(
  run: (key: K, items: readonly I[]) => Promise<Outcomes<R>>,
): (key: K, item: I) => Promise<R> {
  const open = new Map<K, { readonly items: I[]; readonly outcomes: Promise<Outcomes<R>> }>();
  const runSoon = async (key: K, items: readonly I[]) => {
    await sleep(BATCH_MS);
    open.delete(key);
    return run(key, items);
  };
  return async (key, item) => {
    let batch = open.get(key);
    if (!batch) {
      const items: I[] = [];
      batch = { items, outcomes: runSoon(key, items) };
      open.set(key, batch);
    }
    const index = batch.items.push(item) - 1;
    const outcome = (await batch.outcomes)[index] as R | SnapshotError;
    if (outcome instanceof SnapshotError) throw outcome;
    return outcome;
  };
}
