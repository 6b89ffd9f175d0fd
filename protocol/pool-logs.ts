import type { PoolLog } from './calibration.ts';

/** The logs of each pool in each block, oldest block first. */
export function byBlock(logs: readonly PoolLog[]): PoolLog[][] {
  const groups = new Map<string, PoolLog[]>();
  const inOrder = [...logs].sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
  for (const log of inOrder) {
    const key = `${log.blockHash}:${log.address}`;
    groups.set(key, [...(groups.get(key) ?? []), log]);
  }
  return [...groups.values()];
}

/** The first of every list, then the second of every list, and so on. */
export function byTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1))).flat();
}
