import { parse, stringify } from 'lossless-json';

/**
 * `JSON.parse` that keeps integers exact: one above 2^53 - 1 in size becomes a bigint, every other number a number.
 *
 * @throws SyntaxError as `JSON.parse`
 */
export function parseJson(text: string): unknown {
  return parse(text, undefined, parseNumber);
}

/** `JSON.stringify` that writes a bigint as a plain JSON integer. */
export function stringifyJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

function parseNumber(digits: string): number | bigint {
  const value = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}
