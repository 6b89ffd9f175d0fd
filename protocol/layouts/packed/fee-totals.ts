import type { Halves } from '../../pool-events.ts';
import type { TokenPair } from '../storage.ts';
import type { Fees, Notional, PlatformFees } from './interpretations.ts';

/** Sums of the two halves of a word over swaps, by direction: they can be kept before anyone knows what they mean. */
export interface HalvesByDirection {
  readonly sales: Halves;
  readonly purchases: Halves;
}

/** Fees that stayed with the bins, from sums of `BinSwapped.fees`. */
export function lpFees(meaning: Fees, sums: HalvesByDirection): TokenPair {
  if (meaning === 'token') return byToken(sums);
  return { token0Scaled: sums.sales.high, token1Scaled: sums.purchases.high };
}

/**
 * Fees of the platform, its part of the spread and notional fees together, from sums of `Swap.platformFees`.
 *
 * @returns null when the sums do not tell in which token notional fees were paid
 */
export function platformFees(
  meaning: PlatformFees,
  notional: Notional | null,
  sums: HalvesByDirection,
): TokenPair | null {
  if (meaning === 'token') return byToken(sums);
  if (notional !== 'input' && sums.sales.low + sums.purchases.low > 0n) return null;
  return {
    token0Scaled: sums.sales.high + sums.sales.low,
    token1Scaled: sums.purchases.high + sums.purchases.low,
  };
}

function byToken({ sales, purchases }: HalvesByDirection): TokenPair {
  return { token0Scaled: sales.high + purchases.high, token1Scaled: sales.low + purchases.low };
}
