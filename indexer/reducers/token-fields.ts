import { type Hex, hexToBigInt, hexToBytes, size, sliceHex } from 'viem';

/** How many bytes of a response are read. 191 of them are text, more than is ever shown. */
export const TOKEN_ANSWER_BYTES = 255;
const WORD = 32;
const MAX_DECIMALS = 255n;

/**
 * Decodes the response of `symbol()` or `name()`: an ABI string, or the bytes32 of early tokens. Null when it is
 * neither, or empty. Bytes that are not UTF-8 become U+FFFD. The text is untrusted: the read model cleans it before it
 * is shown.
 *
 * @param answer the first {@link TOKEN_ANSWER_BYTES} bytes of the response
 */
export function decodeTokenText(answer: Hex | null): string | null {
  const bytes = answer === null ? null : textBytes(answer);
  if (bytes === null) return null;
  // `stream` drops an incomplete last character, which a cut text may have. Postgres cannot store NUL.
  const text = new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '');
  return text === '' ? null : text;
}

/** Decodes the response of `decimals()`; null when it is not a uint8. */
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
