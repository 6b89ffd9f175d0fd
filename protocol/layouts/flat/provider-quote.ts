/** Bid and ask of a price provider, token1 per whole token0, Q64.64. */
export interface ProviderQuote {
  readonly bidX64: bigint;
  readonly askX64: bigint;
}
