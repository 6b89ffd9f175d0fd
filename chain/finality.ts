/** Ponder's numbers, for which it has no setting. */
const FINALITY_BLOCKS: ReadonlyMap<number, number> = new Map([
  ...[1, 3, 4, 5, 42, 11_155_111].map((chainId) => [chainId, 65] as const),
  ...[137, 80_001].map((chainId) => [chainId, 200] as const),
  ...[42_161, 42_170, 421_611, 421_613].map((chainId) => [chainId, 240] as const),
]);
const USUAL_BLOCKS = 30;

/** Blocks of the longest reorganisation that the index undoes. A deeper one stops the chain's index. */
export const finalityBlocks = (chainId: number): number => FINALITY_BLOCKS.get(chainId) ?? USUAL_BLOCKS;
