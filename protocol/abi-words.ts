import type { Hex } from 'viem';

/** Hex digits of one word. */
const DIGITS = 64;

/**
 * Reads one word of ABI-encoded data, by its index, as an unsigned number; the caller converts signed and narrow types.
 * Slices of text take a tenth of the time of viem's codec, and responses of hundreds of pools are read in each block.
 *
 * @throws RangeError when the data end before the word
 */
export function wordAt(data: Hex, index: number): bigint {
  const digits = data.slice(2 + index * DIGITS, 2 + (index + 1) * DIGITS);
  if (digits.length < DIGITS) throw new RangeError(`there is no word ${index} in ${(data.length - 2) / 2} bytes`);
  return BigInt(`0x${digits}`);
}

/** Cuts bytes out of hex data. @throws RangeError when the data end before the last of them */
export function bytesAt(data: Hex, offset: number, length: number): Hex {
  const [start, end] = [2 + 2 * offset, 2 + 2 * (offset + length)];
  if (end > data.length) throw new RangeError(`data end before byte ${offset + length}`);
  return `0x${data.slice(start, end)}`;
}

/** A whole number as hex digits of so many bytes, without `0x`. */
export const hexDigits = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');

/** An address as a word of calldata, without `0x`. */
export const addressWord = (address: Hex): string => address.slice(2).padStart(DIGITS, '0');
