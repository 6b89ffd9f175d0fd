import { perObject } from '../../runtime/per-object.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { SnapshotCache } from '../reads/snapshot-cache.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { HeadContext, Kinds, QuoteKind } from '../types.ts';

/** Reads a pool at the committed head, in place of a read in the block that is being built on it. */
export type ReadCommitted = <K extends QuoteKind>(
  kind: K,
  head: HeadContext,
  pool: ServedPool,
  isProvisional?: boolean,
) => Promise<Kinds[K]>;

/** @param snapshots those at the committed head */
export const committedReads =
  (snapshots: Pick<SnapshotCache, 'read'>): ReadCommitted =>
  async (kind, head, pool, isProvisional = false) => {
    // A scheduled read stays within its budget.
    const options = head.reserve ? { at: committedHead(head) } : {};
    const outcome = (await snapshots.read(kind, [pool], options)).get(pool.address);
    if (!outcome) throw new SnapshotError('read_failed', 'the pool was not read');
    if (outcome instanceof SnapshotError) throw outcome;
    return isProvisional ? { ...outcome, isProvisional } : outcome;
  };

/** The same object for the same head: pools that are read at one object share calls. */
const committedHead = perObject(({ block: { pending: _, ...block }, ...head }: HeadContext): HeadContext => {
  return { ...head, block };
});
