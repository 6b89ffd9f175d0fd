import { type Hex, hexToBigInt, hexToBytes, size, sliceHex } from 'viem';

/** Bytes of an answer that are read: of a text 191, more than are ever shown. */
export const TOKEN_ANSWER_BYTES = 255;
const WORD = 32;
const MAX_DECIMALS = 255n;

/**
 * Text answered by `symbol()` or `name()`: an ABI string, or the bytes32 of early tokens. Null when the answer is neither, or
 * empty. It is anyone's to choose: the read model shows it cleaned. Bytes that are no UTF-8 become U+FFFD.
 *
 * @param answer its first {@link TOKEN_ANSWER_BYTES} bytes
 */
export function decodeTokenText(answer: Hex | null): string | null {
  const bytes = answer === null ? null : textBytes(answer);
  if (bytes === null) return null;
  // As a stream: where a text was cut, a character may lack its end. Postgres stores no NUL.
  const text = new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '');
  return text === '' ? null : text;
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
  const isCut = length >= TOKEN_ANSWER_BYTES;
  if (textLength > BigInt(length - start) && !isCut) return null;
  return hexToBytes(answer).subarray(start, textLength < BigInt(length) ? start + Number(textLength) : length);
}
