/** What events say of a bin. */
export interface SummedBin {
  readonly bin: number;
  /** Moved by liquidity events, token0 first. */
  readonly liquidityScaled: readonly [bigint, bigint];
  /** Sums of the deltas that swaps logged, in units that depend on the factory. */
  readonly swapDeltas: readonly [bigint, bigint];
}

/** How deltas of swaps become scaled amounts. */
export interface DeltaSums {
  /** Scaled units of each token in one unit of the deltas. */
  readonly units: readonly [bigint, bigint];
  /** Each may have rounded every delta of a bin once, by less than one unit. */
  readonly swaps: bigint;
}

/**
 * Holds bins by events against storage.
 *
 * @param stored scaled balances of the same bins in the same order; null when the pool did not show them
 * @returns the first difference; null when there is none
 */
export function binDifference(
  summed: readonly SummedBin[],
  stored: readonly (readonly [bigint, bigint])[] | null,
  { units, swaps }: DeltaSums,
): string | null {
  if (stored?.length !== summed.length) return 'the pool does not show its bins';
  for (const [index, { bin, liquidityScaled, swapDeltas }] of summed.entries()) {
    for (const token of [0, 1] as const) {
      const byEvents = liquidityScaled[token] + swapDeltas[token] * units[token];
      const byStorage = stored[index]?.[token] ?? 0n;
      const off = byStorage > byEvents ? byStorage - byEvents : byEvents - byStorage;
      if (off > (units[token] - 1n) * swaps)
        return `bin ${bin}: token${token} ${byEvents} by events, ${byStorage} stored`;
    }
  }
  return null;
}
