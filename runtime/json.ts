import { parse, stringify } from 'lossless-json';

/** Longer numbers are refused: making a bigint of very many digits takes long. */
const MAX_NUMBER_CHARS = 1_000;

/**
 * Reads JSON and keeps integers exact: one above 2^53 - 1 in size becomes a bigint, every other number a number. Takes time in
 * proportion to the text, whatever it holds: anyone can send one.
 *
 * @throws SyntaxError when the text is not JSON, or an object has two values for one key; RangeError when it is nested too deeply
 */
export function parseJson(text: string): unknown {
  const read = parseNatively(text);
  if (read !== undefined) return read.value;
  // The library reads a character at a time: too slow for a long text, of which a general message must do.
  if (text.length > MAX_EXPLAINED_CHARS) throw new SyntaxError('not JSON, or with two values for one key');
  return parse(text, null, { parseNumber });
}

const MAX_EXPLAINED_CHARS = 8_192;

/**
 * Reads with `JSON.parse`, which is over ten times as fast as the library, but keeps the last of several values for one key and
 * rounds integers.
 *
 * @returns undefined when the text is not JSON or repeats a key
 */
function parseNatively(text: string): { readonly value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { colons, exact } = tagIntegers(text);
  if (countKeys(value) !== colons) return undefined;
  return { value: exact === text ? value : JSON.parse(exact, (_, each: unknown) => untagged(each)) };
}

/** Strings, colons and numbers of valid JSON. Strings come first, so that nothing inside them counts; no part is looked at twice. */
const PARTS = /"[^"\\]*(?:\\.[^"\\]*)*"|:|-?\d[\d.eE+-]*/g;

/** Every integer with fewer digits is exact as a number. */
const MIN_LONG_CHARS = 16;

/** Marks strings that stand for integers. It differs from process to process, so that a client cannot send it. */
const TAG = `integer ${Math.random()} `;

/** Counts the colons outside strings of valid JSON, and puts each integer that a number cannot hold into a marked string. */
function tagIntegers(text: string): { readonly colons: number; readonly exact: string } {
  let colons = 0;
  const exact = text.replace(PARTS, (part) => {
    if (part === ':') colons += 1;
    if (part.length < MIN_LONG_CHARS || part.startsWith('"')) return part;
    return isLongInteger(part) ? `"${TAG}${part}"` : part;
  });
  return { colons, exact };
}

const untagged = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith(TAG) ? BigInt(value.slice(TAG.length)) : value;

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: readonly unknown[] = Object.values(value);
  return values.reduce<number>((sum, each) => sum + countKeys(each), Array.isArray(value) ? 0 : values.length);
}

function parseNumber(text: string): number | bigint {
  return isLongInteger(text) ? BigInt(text) : Number(text);
}

function isLongInteger(text: string): boolean {
  if (text.length > MAX_NUMBER_CHARS) throw new SyntaxError('a number is too long');
  return !Number.isSafeInteger(Number(text)) && /^-?\d+$/.test(text);
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
