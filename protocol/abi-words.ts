import type { Hex } from 'viem';

/** Hex digits of one word. */
const DIGITS = 64;

/**
 * A word of ABI-encoded data as an unsigned number, by its place; signed and narrow types are the caller's. Answers of
 * hundreds of pools are read in a block, and slices of text cost a tenth of viem's codec.
 *
 * @throws RangeError when the data end before it
 */
export function wordAt(data: Hex, index: number): bigint {
  const digits = data.slice(2 + index * DIGITS, 2 + (index + 1) * DIGITS);
  if (digits.length < DIGITS) throw new RangeError(`there is no word ${index} in ${(data.length - 2) / 2} bytes`);
  return BigInt(`0x${digits}`);
}

/** Bytes of hex data by their place. @throws RangeError when the data end before them */
export function bytesAt(data: Hex, offset: number, length: number): Hex {
  const [start, end] = [2 + 2 * offset, 2 + 2 * (offset + length)];
  if (end > data.length) throw new RangeError(`data end before byte ${offset + length}`);
  return `0x${data.slice(start, end)}`;
}

/** An address as a word of calldata, without `0x`. */
export const addressWord = (address: Hex): string => address.slice(2).padStart(DIGITS, '0');
