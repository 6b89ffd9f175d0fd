import { stringify } from 'lossless-json';

/** Digits of the shortest integer above 2^53 - 1, in a row. Most texts have none, or in strings alone. */
const LARGE = /\d{16}/;

/** A string of valid JSON, or a number. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[-+.\deE]*/g;
const LARGE_INTEGER = /^-?\d{16,}$/;

/** In front of an integer that is read as a string. Drawn at random: no text of others has it. */
const MARK = `integer ${Math.random()}: `;

/**
 * `JSON.parse` that keeps integers exact: one above 2^53 - 1 in size becomes a bigint, every other number a number.
 *
 * @throws SyntaxError as `JSON.parse`
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!LARGE.test(text)) return value;
  // A parser written in JavaScript takes ten times as long as the native one twice.
  const marked = text.replace(STRING_OR_NUMBER, (token) => (LARGE_INTEGER.test(token) ? `"${MARK}${token}"` : token));
  return withIntegers(JSON.parse(marked));
}

/** Puts the marked integers into a value, in place. */
function withIntegers(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? toJsonInteger(BigInt(value.slice(MARK.length))) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const [key, each] of Object.entries(fields)) fields[key] = withIntegers(each);
  return value;
}

/** A brace, or a string: its text, and the colon that follows it when it is a key. Nothing else matters for keys. */
const BRACE_OR_STRING = /[{}]|"([^"\\]*(?:\\.[^"\\]*)*)"\s*(:?)/g;

/**
 * The first key that an object of this text, at whatever depth, has twice; null without one. Parsers keep one of the
 * two values and say nothing.
 *
 * @param text valid JSON
 */
export function duplicateKey(text: string): string | null {
  const openObjects: Set<string>[] = [];
  for (const [token, escaped = '', colon] of text.matchAll(BRACE_OR_STRING)) {
    if (token === '{') openObjects.push(new Set());
    else if (token === '}') openObjects.pop();
    if (colon !== ':') continue;
    const key: string = escaped.includes('\\') ? JSON.parse(`"${escaped}"`) : escaped;
    const keys = openObjects.at(-1);
    if (keys?.has(key)) return key;
    keys?.add(key);
  }
  return null;
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
