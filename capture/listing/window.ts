import type { BlockPoint } from '../../db/indexed-blocks.ts';

/** Newest block that a chain is indexed up to. */
export type IndexedBlock = BlockPoint & { readonly chainId: number };

/** A chain this far behind the most recent one does not hold the others back. */
const MAX_LAG_SECS = 60;

/**
 * End of the window that all pools of a refresh share: the latest second up to which every chain is indexed, chains that
 * have fallen behind left out. Null while nothing is indexed. The window does not go back by less than a minute, as it would
 * when a chain has caught up or lost its newest blocks.
 *
 * @param last end of the window before, if there was one
 */
export function windowEnd(blocks: readonly IndexedBlock[], last: number | null = null): number | null {
  const newest = Math.max(...blocks.map(({ timestamp }) => timestamp));
  const current = blocks.filter(({ timestamp }) => timestamp >= newest - MAX_LAG_SECS);
  if (current.length === 0) return null;
  const end = Math.min(...current.map(({ timestamp }) => timestamp));
  return last !== null && last > end && last - end <= MAX_LAG_SECS ? last : end;
}
