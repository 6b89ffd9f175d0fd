import type { WordShape } from '../words.ts';

/*
 * What is not publicly known of a factory's swaps, as the interpretations that are possible. Each is compared with the chain
 * before it counts; one more here is all that it takes to try it.
 */

/** How `details` of a swap are laid out. */
export type DetailsShape = WordShape<'zeroForOne' | 'exactInput' | 'bin' | 'position'>;

/** `details` of a `Swap`, by the fields of the flat event: flags in the lowest byte, or above position and bin. */
export const DETAILS: Readonly<Record<'flagsFirst' | 'positionFirst', DetailsShape>> = {
  flagsFirst: {
    zeroForOne: { offset: 0, bits: 1 },
    exactInput: { offset: 1, bits: 1 },
    bin: { offset: 8, bits: 16, signed: true },
    position: { offset: 24, bits: 104 },
  },
  positionFirst: {
    zeroForOne: { offset: 120, bits: 1 },
    exactInput: { offset: 121, bits: 1 },
    bin: { offset: 104, bits: 16, signed: true },
    position: { offset: 0, bits: 104 },
  },
};

/** Unit of `BinSwapped.binDeltas`: scaled as in the flat event, or raw as `amountDeltas` of `Swap`. */
export const DELTA_SCALES = ['scaled', 'raw'] as const;

/**
 * Halves of `BinSwapped.fees`: of token0 and token1, as those of `binDeltas`; or the fee of the liquidity providers, and
 * beside it the platform's.
 */
export const FEES = ['token', 'kind'] as const;

/** Halves of `Swap.platformFees`: in token0 and token1; or the platform's part of the spread, and notional fee. */
export const PLATFORM_FEES = ['token', 'kind'] as const;

/**
 * Token in which a swap pays the notional fee: the one that comes in, where bins charge it with their own fees; or, as in the
 * flat layout, the one whose amount the trader does not name.
 */
export const NOTIONAL = ['input', 'unspecified'] as const;

export type Details = keyof typeof DETAILS;
export type DeltaScale = (typeof DELTA_SCALES)[number];
export type Fees = (typeof FEES)[number];
export type PlatformFees = (typeof PLATFORM_FEES)[number];
export type Notional = (typeof NOTIONAL)[number];
