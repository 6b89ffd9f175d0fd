/**
 * DefiLlama's names of chains, as its coin API takes them in front of a token's address: those of its SDK's provider list,
 * which differ from its web site's (`avax`, not `avalanche`; `hyperliquid` for HyperEVM). Another chain is asked for under
 * its configured name.
 */
export const LLAMA_CHAINS: ReadonlyMap<number, string> = new Map([
  [1, 'ethereum'],
  [10, 'optimism'],
  [56, 'bsc'],
  [137, 'polygon'],
  [143, 'monad'],
  [999, 'hyperliquid'],
  [4326, 'megaeth'],
  [4663, 'robinhood'],
  [8453, 'base'],
  [42161, 'arbitrum'],
  [43114, 'avax'],
]);
