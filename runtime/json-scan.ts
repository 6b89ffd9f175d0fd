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
  /** Whitespace between values, and escapes in strings: characters that no value needs. */
  readonly padding: number;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte is to the scan; most are nothing to it, such as those of characters beyond ASCII. */
const OPENING = 1;
const CLOSING = 2;
const COMMA = 3;
const COLON = 4;
const STRING = 5;
const NUMBER = 6;
/** One of a number that cannot be its first. */
const OF_NUMBER = 7;
const WHITESPACE = 8;
const KINDS = new Uint8Array(0x100);
for (const [characters, kind] of [
  ['[{', OPENING],
  [']}', CLOSING],
  [',', COMMA],
  [':', COLON],
  ['"', STRING],
  ['-0123456789', NUMBER],
  ['+.eE', OF_NUMBER],
  [' \t\r\n', WHITESPACE],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}

/**
 * Whether a text stays within bounds, without decoding or parsing it: one pass that looks for nothing but escapes in strings
 * and ends where a bound is exceeded. Says nothing about whether the text is JSON.
 *
 * @param text UTF-8
 */
export function isWithin(text: Uint8Array, bounds: JsonBounds): boolean {
  let depth = 0;
  let values = 1;
  let fields = 0;
  let padding = 0;
  for (let at = 0; at < text.length; at++) {
    switch (KINDS[text[at] as number]) {
      case STRING: {
        // To the closing quote, or the end of the text.
        for (at++; at < text.length && text[at] !== QUOTE; at++) {
          if (text[at] !== BACKSLASH) continue;
          at++;
          if (++padding > bounds.padding) return false;
        }
        continue;
      }
      case WHITESPACE:
        if (++padding > bounds.padding) return false;
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

function endOfNumber(text: Uint8Array, start: number): number {
  let at = start + 1;
  for (let kind = KINDS[text[at] ?? 0]; kind === NUMBER || kind === OF_NUMBER; kind = KINDS[text[at] ?? 0]) at++;
  return at;
}
