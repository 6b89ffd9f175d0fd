import { parse, stringify } from 'lossless-json';

/** Longer numbers are refused: making a bigint of very many digits takes long. */
const MAX_NUMBER_CHARS = 1_000;

/**
 * Reads JSON and keeps integers exact: one above 2^53 - 1 in size becomes a bigint, every other number a number.
 *
 * @throws SyntaxError when the text is not JSON, or an object has two values for one key; RangeError when it is nested too deeply
 */
export const parseJson = (text: string): unknown => parse(text, null, { parseNumber });

function parseNumber(text: string): number | bigint {
  if (text.length > MAX_NUMBER_CHARS) throw new SyntaxError('a number is too long');
  const value = Number(text);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text);
}

/** `JSON.stringify` that writes a bigint as a plain JSON integer. */
export function stringifyJson(value: unknown): string {
  // The native writer is some ten times as fast, but refuses bigints.
  return (holdsBigint(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** The form in which an integer is written fastest without losing a digit. */
export function toJsonInteger(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsBigint);
}
