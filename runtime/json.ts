declare global {
  interface JSON {
    /** Missing from TypeScript's own types. */
    rawJSON(text: string): object;
  }
}

/** Longer numbers are rejected, because making a bigint from very many digits takes long. */
const MAX_NUMBER_CHARS = 1_000;

/** Deeper values are rejected, because code that walks them would exhaust its stack. */
const MAX_DEPTH = 10_000;

/**
 * Parses JSON and keeps integers exact: integers above 2^53 - 1 in size become bigints, all other numbers are numbers.
 * The time is proportional to the length of any text, because texts are untrusted.
 *
 * @throws SyntaxError when the text is not JSON, or an object has a key twice; RangeError when it is nested too deeply
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Exact parsing takes several times as long, so it runs only when a number needs it.
  return checkKeys(text) ? JSON.parse(text, exactInteger) : value;
}

/** Strings (with the colon after a key), brackets, long numbers. Strings come first, so that nothing in them counts. */
const PARTS = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}[\]]|\d{16}/g;

/**
 * Checks that no object of valid JSON has a key twice, since `JSON.parse` silently keeps the last value.
 *
 * @returns whether a number has 16 digits or more in a row: every integer with fewer is exact as a number
 */
function checkKeys(text: string): boolean {
  /** Keys so far of each object around the current part. The set of an array stays empty. */
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

/** @throws TypeError when `JSON.parse` does not pass the text of a number: integers would be rounded silently */
function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const source = context?.source;
  if (source === undefined) throw new TypeError('JSON.parse gives no source of a number');
  if (source.length > MAX_NUMBER_CHARS) throw new SyntaxError('a number is too long');
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Reads JSON as `JSON.parse` does; undefined for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes JSON as `JSON.stringify` does, and a bigint as a plain JSON integer. */
export function stringifyJson(value: unknown): string {
  // Without a replacer, the native writer is several times as fast, but it rejects bigints.
  return JSON.stringify(value, holdsBigint(value) ? rawBigint : undefined) ?? 'null';
}

const rawBigint = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

/**
 * Writes JSON in which bigints are texts of decimal digits, which no JSON parser rounds, and maps are lists of entries.
 * {@link decodeBigints} or a schema with `IntegerText` reads it.
 */
export const encodeBigints = (value: object): string =>
  JSON.stringify(value, (_key, each: unknown) => {
    if (each instanceof Map) return [...each];
    return typeof each === 'bigint' ? String(each) : each;
  });

/** Reads what {@link encodeBigints} wrote. @param fields names of the fields that are bigints or null, at any depth */
export const decodeBigints = <T>(text: string, fields: ReadonlySet<string>): T =>
  JSON.parse(text, (key, each) => (fields.has(key) && each !== null ? BigInt(each) : each));

/** Converts an integer to a number if that is exact: JSON of numbers is written faster than JSON of bigints. */
export function toJsonInteger(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsBigint);
}
