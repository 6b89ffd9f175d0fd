declare global {
  interface JSON {
    /** TypeScript's own types leave it out. */
    rawJSON(text: string): object;
  }
}

/** Longer numbers are refused: making a bigint of very many digits takes long. */
const MAX_NUMBER_CHARS = 1_000;

/** Deeper values would exhaust the stack of what walks them. */
const MAX_DEPTH = 10_000;

/**
 * Reads JSON and keeps integers exact: one above 2^53 - 1 in size becomes a bigint, every other number a number. Takes time in
 * proportion to the text, whatever it holds: anyone can send one.
 *
 * @throws SyntaxError when the text is not JSON, or an object has a key twice; RangeError when it is nested too deeply
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Reading the source of each number takes several times as long.
  return checkKeys(text) ? JSON.parse(text, exactInteger) : value;
}

/** Strings with the colon after a key, brackets and long numbers of valid JSON. Strings come first: nothing inside them counts. */
const PARTS = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}[\]]|\d{16}/g;

/**
 * Checks that no object of valid JSON has a key twice: `JSON.parse` keeps the last value.
 *
 * @returns whether a number has 16 digits or more in a row: every integer with fewer is exact as a number
 */
function checkKeys(text: string): boolean {
  /** The keys so far of each object around a part; of an array, none. */
  const around: Set<string>[] = [];
  let hasLong = false;
  for (const { 0: part, 1: name = '', 2: colon, index } of text.matchAll(PARTS)) {
    if (part === '{' || part === '[') {
      if (around.push(new Set()) > MAX_DEPTH) throw new RangeError('nested too deeply');
    } else if (part === '}' || part === ']') around.pop();
    else if (colon !== undefined) {
      const key = name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name;
      const keys = around.at(-1);
      if (keys?.has(key)) throw new SyntaxError(`Duplicate key '${key}' encountered at position ${index + 1}`);
      keys?.add(key);
    } else if (!part.startsWith('"')) hasLong = true;
  }
  return hasLong;
}

/** @throws TypeError where `JSON.parse` does not pass on the text of a number: without it, an integer would be rounded silently */
function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const source = context?.source;
  if (source === undefined) throw new TypeError('JSON.parse gives no source of a number');
  if (source.length > MAX_NUMBER_CHARS) throw new SyntaxError('a number is too long');
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** `JSON.stringify` that writes a bigint as a plain JSON integer. */
export function stringifyJson(value: unknown): string {
  // Without a function that sees each value, the native writer is several times as fast, but it refuses bigints.
  return JSON.stringify(value, holdsBigint(value) ? rawBigint : undefined) ?? 'null';
}

const rawBigint = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

/** The form in which an integer is written fastest without losing a digit. */
export function toJsonInteger(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsBigint);
}
