import { divCeil } from './fixed-point.ts';

/** A pool counts both tokens in one internal unit, at least as fine as either token's own. */
export const MIN_INTERNAL_DECIMALS = 18;

/** Scaled units per raw unit of each token: powers of ten. */
export interface TokenScale {
  readonly multiplier0: bigint;
  readonly multiplier1: bigint;
}

/** Multipliers of a pool of tokens with these decimals (0..255): 10^(max(18, d0, d1) - d). */
export function tokenScale(decimals0: number, decimals1: number): TokenScale {
  const internal = Math.max(MIN_INTERNAL_DECIMALS, decimals0, decimals1);
  return {
    multiplier0: 10n ** BigInt(internal - decimals0),
    multiplier1: 10n ** BigInt(internal - decimals1),
  };
}

/** Raw units of what leaves the pool. */
export function toRawFloor(scaled: bigint, multiplier: bigint): bigint {
  return scaled / multiplier;
}

/** Raw units of what enters the pool. */
export function toRawCeil(scaled: bigint, multiplier: bigint): bigint {
  return divCeil(scaled, multiplier);
}

export function toScaled(raw: bigint, multiplier: bigint): bigint {
  return raw * multiplier;
}
