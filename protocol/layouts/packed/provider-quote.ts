/** What a price provider answers: token1 per whole token0, Q64.64. The reference anchors the bins. */
export interface ProviderQuote {
  readonly bidX64: bigint;
  readonly askX64: bigint;
  readonly referenceX64: bigint;
}

/** A pool accepts a quote of 0 < bid <= reference <= ask. */
export function isTradableQuote({ bidX64, askX64, referenceX64 }: ProviderQuote): boolean {
  return bidX64 > 0n && bidX64 <= referenceX64 && referenceX64 <= askX64;
}
