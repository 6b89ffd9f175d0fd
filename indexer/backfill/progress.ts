/** Where every chain is, by chain id. */
export type Position = {
  readonly startBlocks: ReadonlyMap<number, number>;
  readonly indexed: ReadonlyMap<number, number>;
  readonly heads: ReadonlyMap<number, number>;
};

/** Blocks to do, from the first ones to the chains' heads, and blocks done, of all chains together. */
export function countBlocks({ startBlocks, indexed, heads }: Position) {
  let [totalBlocks, doneBlocks] = [0, 0];
  for (const [chainId, start] of startBlocks) {
    const length = Math.max(0, (heads.get(chainId) ?? start) - start);
    totalBlocks += length;
    doneBlocks += Math.min(length, Math.max(0, (indexed.get(chainId) ?? start) - start));
  }
  return { totalBlocks, doneBlocks };
}

/** Chains whose index is behind the head. */
export function behindHeads({ startBlocks, indexed, heads }: Position): number[] {
  return [...startBlocks.keys()].filter((id) => (indexed.get(id) ?? -1) < (heads.get(id) ?? 0));
}
