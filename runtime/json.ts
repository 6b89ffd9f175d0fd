import { parse, stringify } from 'lossless-json';

/** Longer numbers are refused: making a bigint of very many digits takes long. */
const MAX_NUMBER_CHARS = 1_000;

/**
 * Reads JSON and keeps integers exact: one above 2^53 - 1 in size becomes a bigint, every other number a number.
 *
 * @throws SyntaxError when the text is not JSON, or an object has two values for one key; RangeError when it is nested too deeply
 */
export function parseJson(text: string): unknown {
  const read = LONG_NUMBER.test(text) ? undefined : parseNatively(text);
  return read === undefined ? parse(text, null, { parseNumber }) : read.value;
}

/** Only a number with as many digits in a row may be above 2^53 - 1, or too long. */
const LONG_NUMBER = /(?:^|[\s:,[.eE+-])\d{16}/;

/**
 * The native reader is some ten times as fast, but keeps the last of several values for one key: each key has its colon, so
 * as many keys as colons are all that there were.
 *
 * @returns undefined when a text has colons elsewhere, or is to be refused with the other reader's message
 */
function parseNatively(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return countKeys(value) === text.split(':').length - 1 ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: readonly unknown[] = Object.values(value);
  return values.reduce<number>((sum, each) => sum + countKeys(each), Array.isArray(value) ? 0 : values.length);
}

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
