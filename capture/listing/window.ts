import type { BlockPoint } from '../../db/indexed-blocks.ts';

/** Newest block that a chain is indexed up to. */
export type IndexedBlock = BlockPoint & { readonly chainId: number };

/** A chain further than this behind the most recent one is left out, so that it does not hold the others back. */
const MAX_LAG_SECS = 60;

/**
 * Gives the end of the window that all pools of a refresh share: the latest second up to which every chain is indexed,
 * except chains that have fallen behind. Null while nothing is indexed. The end never moves back by a minute or less,
 * as it otherwise would when a chain has caught up or lost its newest blocks.
 *
 * @param last end of the previous window, if there was one
 */
export function windowEnd(blocks: readonly IndexedBlock[], last: number | null = null): number | null {
  const newest = Math.max(...blocks.map(({ timestamp }) => timestamp));
  const current = blocks.filter(({ timestamp }) => timestamp >= newest - MAX_LAG_SECS);
  if (current.length === 0) return null;
  const end = Math.min(...current.map(({ timestamp }) => timestamp));
  return last !== null && last > end && last - end <= MAX_LAG_SECS ? last : end;
}
