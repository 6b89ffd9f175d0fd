import { type Hex, hexToBigInt, hexToBytes, size, sliceHex } from 'viem';

/** Longer texts are cut: a token's name is anyone's to choose. */
const MAX_TEXT_LENGTH = 128;
const WORD = 32;
const MAX_DECIMALS = 255n;

/**
 * Text answered by `symbol()` or `name()`: an ABI string, or the bytes32 of early tokens. Null when the answer is
 * neither, or holds no printable character.
 */
export function decodeTokenText(answer: Hex | null): string | null {
  if (answer === null) return null;
  const bytes = textBytes(answer);
  if (bytes === null) return null;
  // Postgres stores no NUL, and control and direction characters have no place in a listing.
  const text = new TextDecoder()
    .decode(bytes)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim();
  return text === '' ? null : [...text].slice(0, MAX_TEXT_LENGTH).join('');
}

/** Number answered by `decimals()`; null when it is no uint8. */
export function decodeTokenDecimals(answer: Hex | null): number | null {
  if (answer === null || size(answer) < WORD) return null;
  const decimals = hexToBigInt(sliceHex(answer, 0, WORD));
  return decimals <= MAX_DECIMALS ? Number(decimals) : null;
}

function textBytes(answer: Hex): Uint8Array | null {
  const length = size(answer);
  if (length === WORD) return hexToBytes(answer);
  if (length < 2 * WORD) return null;
  const offset = hexToBigInt(sliceHex(answer, 0, WORD));
  if (offset > BigInt(length - WORD)) return null;
  const start = Number(offset) + WORD;
  const textLength = hexToBigInt(sliceHex(answer, start - WORD, start));
  if (textLength > BigInt(length - start)) return null;
  return hexToBytes(answer).subarray(start, start + Number(textLength));
}
