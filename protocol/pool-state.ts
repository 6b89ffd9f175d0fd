import type { Address } from 'viem';
import type { TokenScale } from './scaling.ts';

/** Highest position inside a bin: the cursor runs from 0 (lower edge) to this (upper edge). */
export const MAX_POSITION = (1n << 104n) - 1n;

/** The bins of a pool, which never change. */
export interface BinRange {
  readonly lowestBin: number;
  readonly highestBin: number;
}

/** What a curve needs of a pool that never changes. */
export interface PoolImmutables extends BinRange {
  readonly scale: TokenScale;
}

/** What a bin holds and charges. Balances are scaled and belong to liquidity providers alone. */
export interface BinState {
  readonly token0Scaled: bigint;
  readonly token1Scaled: bigint;
  /** Width in millionths of the price that anchors the bins. */
  readonly lengthE6: number;
  /** Fees on top of the base fee, in millionths. */
  readonly addFeeBuyE6: number;
  readonly addFeeSellE6: number;
}

/** Where a pool's liquidity stands: bin and position in it. */
export interface Cursor {
  readonly bin: number;
  /** 0..MAX_POSITION. The bin's token0 lies above, its token1 below. */
  readonly position: bigint;
  /** Signed distance of the bin's lower edge from the price that anchors the bins, in millionths. */
  readonly lowerDistE6: number;
}

/** What a pool's first slot holds. */
export interface Slot0 {
  /** 0 is active; any other value blocks swaps. */
  readonly pauseLevel: number;
  readonly cursor: Cursor;
  /** Share of a bin's fee that leaves to protocol and admin, 1e6 = all. Changes no trader amount. */
  readonly spreadFeeE6: number;
  /** Fee on notional, 1e8 = all. */
  readonly notionalFeeE8: number;
}

/** Scaled amounts of both tokens. */
export interface TokenPair {
  readonly token0Scaled: bigint;
  readonly token1Scaled: bigint;
}

/** What a pool's fixed slots hold. */
export interface PoolHead extends Slot0 {
  /** Balances of all bins together. */
  readonly binTotals: TokenPair;
  /** Notional fees accrued and not collected. */
  readonly notionalFees: TokenPair;
  /** The replaceable price provider; null when the provider is an immutable of the pool. */
  readonly mutablePriceProvider: Address | null;
}

/** All of a pool's storage but the shares of positions. Bins from the lowest one upwards. */
export interface StoredPool extends PoolHead {
  readonly bins: readonly (BinState & { readonly shares: bigint })[];
}

/**
 * All that the pool's arithmetic reads, apart from the provider's quote.
 * `bins` has one entry per bin from `lowestBin` up: bin i is at index i - lowestBin.
 */
export interface PoolState extends PoolImmutables, Slot0 {
  readonly bins: readonly BinState[];
}

/** The bin of a pool. Throws a RangeError outside lowestBin..highestBin: the caller walked off the pool. */
export function binAt(state: PoolState, bin: number): BinState {
  const found = state.bins[bin - state.lowestBin];
  if (found === undefined) {
    throw new RangeError(`bin ${bin} is outside ${state.lowestBin}..${state.highestBin}`);
  }
  return found;
}
