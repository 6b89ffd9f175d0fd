import type { BlockRef } from '../../chain/read-context.ts';
import { overridesOf } from '../../quoting/quote-basis.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot, SnapshotMap } from '../../quoting/types.ts';
import { unavailable } from '../errors.ts';

/** Live prices change while pools are read: how often pools are read again to see all of them in one state. */
const TRIES = 4;

/** The blocks of all snapshots. */
export const blocksOf = (read: SnapshotMap): BlockRef[] =>
  [...read.values()].flatMap((entry) => (entry instanceof SnapshotError ? [] : [entry.block]));

/**
 * Reads pools until all live quotes are of one state, and gives what an `eth_call` needs to see it.
 *
 * @param read reads the pools: those that are read already come from the cache
 * @throws ApiError 503 when live prices change too fast
 */
export async function readInOneState<S extends Snapshot>(read: () => Promise<SnapshotMap<S>>) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const snapshots = await read();
    const overrides = overridesOf(blocksOf(snapshots));
    if (overrides !== undefined) return { read: snapshots, overrides };
  }
  throw unavailable(new Error('live prices changed during each of several reads'));
}
