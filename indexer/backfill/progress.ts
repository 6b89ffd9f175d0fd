/** First block, last indexed block and head of every chain, by chain id. */
export type Position = {
  readonly startBlocks: ReadonlyMap<number, number>;
  readonly indexed: ReadonlyMap<number, number>;
  readonly heads: ReadonlyMap<number, number>;
};

/** Sums over all chains: blocks from the first one to the head, and how many of them are indexed. */
export function countBlocks({ startBlocks, indexed, heads }: Position) {
  let [totalBlocks, doneBlocks] = [0, 0];
  for (const [chainId, start] of startBlocks) {
    const length = Math.max(0, (heads.get(chainId) ?? start) - start);
    totalBlocks += length;
    doneBlocks += Math.min(length, Math.max(0, (indexed.get(chainId) ?? start) - start));
  }
  return { totalBlocks, doneBlocks };
}

/** Ids of the chains whose index is behind the head. */
export function behindHeads({ startBlocks, indexed, heads }: Position): number[] {
  return [...startBlocks.keys()].filter((id) => (indexed.get(id) ?? -1) < (heads.get(id) ?? 0));
}
