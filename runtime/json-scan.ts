/** What decides how long a JSON text takes to parse and to check, beside its length. */
export type JsonSize = {
  /** Arrays and objects inside of each other. */
  readonly depth: number;
  /** At least as many as the text has values. */
  readonly values: number;
  /** Length of the longest number. */
  readonly numberChars: number;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

/** Measures a text without parsing it, in one pass that looks into no string. Of a text that is no JSON, anything may come. */
export function scanJson(text: string): JsonSize {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let numberChars = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (isOpening(code)) {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (isClosing(code)) depth--;
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      numberChars = Math.max(numberChars, end - at);
      at = end - 1;
    }
  }
  return { depth: deepest, values, numberChars };
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
