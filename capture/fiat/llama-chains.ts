/** DefiLlama's names of chains; another chain is asked for under its configured name. */
export const LLAMA_CHAINS: ReadonlyMap<number, string> = new Map([
  [1, 'ethereum'],
  [10, 'optimism'],
  [56, 'bsc'],
  [137, 'polygon'],
  [143, 'monad'],
  [999, 'hyperliquid'],
  [4326, 'megaeth'],
  [8453, 'base'],
  [42161, 'arbitrum'],
  [43114, 'avax'],
]);
