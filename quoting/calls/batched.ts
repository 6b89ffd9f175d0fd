import type { ReadContext } from '../../chain/read-context.ts';
import { pause } from '../../runtime/pause.ts';
import { SnapshotError } from '../snapshot-error.ts';

/** Results of many items, in the order of the items. */
export type Outcomes<T> = readonly (T | SnapshotError)[];

/** Items that are asked for within this time share a run. */
const BATCH_MS = 2;

interface Batch<C, I, R> {
  readonly context: C;
  readonly items: I[];
  readonly outcomes: Promise<Outcomes<R>>;
}

/**
 * Makes a read of one item from a run over many: items that come within `BATCH_MS`, with the same object of a block and
 * the same budget, share a run. It has the signal of the first.
 */
export function batched<C extends ReadContext, I, R>(
  run: (context: C, items: readonly I[]) => Promise<Outcomes<R>>,
): (context: C, item: I) => Promise<R> {
  const open = new Set<Batch<C, I, R>>();
  const begin = (context: C): Batch<C, I, R> => {
    const items: I[] = [];
    const outcomes = pause(BATCH_MS).then(() => {
      open.delete(batch);
      return run(context, items);
    });
    const batch = { context, items, outcomes };
    open.add(batch);
    return batch;
  };
  return async (context, item) => {
    const { block, reserve } = context;
    const isSame = ({ context: other }: Batch<C, I, R>) => other.block === block && other.reserve === reserve;
    const batch = open.values().find(isSame) ?? begin(context);
    const index = batch.items.push(item) - 1;
    const outcome = (await batch.outcomes)[index] as R | SnapshotError;
    if (outcome instanceof SnapshotError) throw outcome;
    return outcome;
  };
}
