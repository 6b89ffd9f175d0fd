import type { Queryable } from '../../db/transaction.ts';
import { isSuccessor, type Mark, type PoolTable, readChangedPools } from './changed-pools.ts';
import type { PoolKey } from './pool-key.ts';

/** What was seen of the index, to tell at the next look which pools it has changed. */
export type IndexLook = {
  readonly mark: Mark;
  /** Pools that it changed lately, with the time by our clock, ms: a reorganisation may take rows back without a trace. */
  readonly recent: ReadonlyMap<PoolKey, number>;
};

/** Ponder takes back 13 minutes at most on the chains that it knows: 65 blocks of Ethereum. */
export const RECENT_SECS = 900;

/** @param headTs second up to which the index has come, Unix */
export async function lookFirst(
  client: Queryable,
  mark: Mark,
  headTs: number,
  tables: readonly PoolTable[],
): Promise<IndexLook> {
  const recent = await readChangedPools(client, mark, { eventsAfter: headTs - RECENT_SECS }, tables);
  const now = Date.now();
  return { mark, recent: new Map([...recent].map((key) => [key, now])) };
}

/**
 * The pools in `recent` are those that may have changed since the look before.
 *
 * @returns null when that cannot be told: another index serves, or the database was set back
 */
export async function lookAgain(
  client: Queryable,
  mark: Mark,
  last: IndexLook,
  tables: readonly PoolTable[],
): Promise<IndexLook | null> {
  if (!isSuccessor(mark, last.mark)) return null;
  const now = Date.now();
  const changed = await readChangedPools(client, mark, { mark: last.mark }, tables);
  const recent = new Map([...last.recent].filter(([, at]) => at > now - RECENT_SECS * 1000));
  for (const key of changed) recent.set(key, now);
  return { mark, recent };
}
