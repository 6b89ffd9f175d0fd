/** What decides how long a JSON text takes to parse and to check, next to its length. */
export type JsonBounds = {
  /** Arrays and objects inside of each other. */
  readonly depth: number;
  /** Values, which are no more than the text has commas, arrays and objects, and one. */
  readonly values: number;
  /** Fields of all objects: many different ones take longer than as many values. */
  readonly fields: number;
  /** Length of a number. */
  readonly numberChars: number;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a character is to the scan, by its code; of most it is nothing. */
const OPENING = 1;
const CLOSING = 2;
const COMMA = 3;
const COLON = 4;
const STRING = 5;
const NUMBER = 6;
/** One of a number that cannot be its first. */
const OF_NUMBER = 7;
const KINDS = new Uint8Array(0x10000);
for (const [characters, kind] of [
  ['[{', OPENING],
  [']}', CLOSING],
  [',', COMMA],
  [':', COLON],
  ['"', STRING],
  ['-0123456789', NUMBER],
  ['+.eE', OF_NUMBER],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}

/**
 * Whether a text stays within bounds, without parsing it: one pass that looks into no string and ends where a bound is
 * exceeded. Says nothing about whether the text is JSON.
 */
export function isWithin(text: string, bounds: JsonBounds): boolean {
  let depth = 0;
  let values = 1;
  let fields = 0;
  for (let at = 0; at < text.length; at++) {
    switch (KINDS[text.charCodeAt(at)]) {
      case STRING:
        at = endOfString(text, at);
        continue;
      case NUMBER: {
        const end = endOfNumber(text, at);
        if (end - at > bounds.numberChars) return false;
        at = end - 1;
        continue;
      }
      case COMMA:
        values++;
        break;
      case COLON:
        fields++;
        break;
      case OPENING:
        values++;
        depth++;
        break;
      case CLOSING:
        depth--;
        break;
      default:
        continue;
    }
    if (depth > bounds.depth || values > bounds.values || fields > bounds.fields) return false;
  }
  return values <= bounds.values;
}

/** @returns where the closing quote is, or the end of the text */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && (KINDS[text.charCodeAt(at)] as number) >= NUMBER) at++;
  return at;
}
