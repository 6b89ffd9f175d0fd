/** Arithmetic of unsigned fixed-point numbers. Every function that rounds says how in its name. */

export const Q64 = 1n << 64n;
export const Q128 = 1n << 128n;
/** The largest amount of a swap, scaled units. */
export const MAX_INT128 = (1n << 127n) - 1n;
export const MAX_UINT64 = (1n << 64n) - 1n;
export const MAX_UINT128 = Q128 - 1n;
export const MAX_UINT256 = (1n << 256n) - 1n;
export const E6 = 1_000_000n;
export const E8 = 100_000_000n;

/** ceil(a / b) for a >= 0, b > 0. */
export function divCeil(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return quotient * b === a ? quotient : quotient + 1n;
}

/** floor(a * b / denominator) for non-negative a, b. */
export function mulDivFloor(a: bigint, b: bigint, denominator: bigint): bigint {
  return (a * b) / denominator;
}

/** ceil(a * b / denominator) for non-negative a, b. */
export function mulDivCeil(a: bigint, b: bigint, denominator: bigint): bigint {
  return divCeil(a * b, denominator);
}

/** ceil(a / 2^bits) for a >= 0: a shift, which costs much less than a division. */
export function shiftRightCeil(a: bigint, bits: bigint): bigint {
  return -(-a >> bits);
}

export function minBigint(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

export function maxBigint(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

export function absBigint(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** floor(sqrt(n)) for n >= 0 (RangeError below), by Newton's method from above. */
export function isqrtFloor(n: bigint): bigint {
  if (n < 0n) throw new RangeError('square root of a negative number');
  if (n < 2n) return n;
  let x = firstGuessAbove(n);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}

/** A number at least sqrt(n) and close to it: the float root, rounded up by more than its error. */
function firstGuessAbove(n: bigint): bigint {
  const bits = n.toString(16).length * 4;
  const shift = BigInt(Math.max(0, bits - 104) & ~1);
  const head = Number(n >> shift);
  return BigInt(Math.ceil(Math.sqrt(head) * (1 + 1e-14)) + 1) << (shift / 2n);
}
