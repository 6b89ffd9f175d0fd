import type { LevelsChain } from './write-levels.ts';

/** A chain and shares of which nothing is known besides levels. */
export const unknownGas: Pick<LevelsChain, 'swapGas'> = {
  swapGas: { of: () => ({ bids: null, asks: null }), settled: async () => undefined, simulate: async () => null },
};
export const unknownShares = { of: () => ({ committedShare: null, liveShare: null }) };
