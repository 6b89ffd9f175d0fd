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
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Whether a text stays within bounds, without parsing it: one pass that looks into no string and ends where a bound is
 * exceeded. Says nothing about whether the text is JSON.
 */
export function isWithin(text: string, bounds: JsonBounds): boolean {
  let depth = 0;
  let values = 1;
  let fields = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (code === COLON) fields++;
    else if (isOpening(code)) {
      values++;
      depth++;
    } else if (isClosing(code)) depth--;
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      if (end - at > bounds.numberChars) return false;
      at = end - 1;
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
  while (isOfNumber(text.charCodeAt(at))) at++;
  return at;
}

/** `[` and `{`, then `]` and `}`: they differ by 0x20. */
const isOpening = (code: number): boolean => (code | 0x20) === 0x7b;
const isClosing = (code: number): boolean => (code | 0x20) === 0x7d;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** A digit, or one of `+ - . e E`. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === MINUS || code === 0x2b || code === 0x2e || (code | 0x20) === 0x65;
