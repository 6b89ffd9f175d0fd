import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithin, type JsonBounds } from './json-scan.ts';

/** The bounds that a text just keeps, by taking it apart one token after the other. */
function sizeOf(text: string): JsonBounds {
  const tokens = text.match(/"(?:\\(?:.|$)|[^"\\])*"?|[-\d][-+.\deE]*|./gs) ?? [];
  const numbers = tokens.filter((token) => /^-|^\d/.test(token));
  let depth = 0;
  const depths = tokens.map((token) => {
    if (/^[[{]$/.test(token)) depth += 1;
    if (/^[\]}]$/.test(token)) depth -= 1;
    return depth;
  });
  return {
    depth: Math.max(0, ...depths),
    values: 1 + tokens.filter((token) => /^[[{,]$/.test(token)).length,
    fields: tokens.filter((token) => token === ':').length,
    numberChars: Math.max(0, ...numbers.map(({ length }) => length)),
    padding: tokens.reduce((sum, token) => sum + paddingOf(token), 0),
  };
}

/** Of a string its escapes, of which one may be cut off by the end of the text. */
const paddingOf = (token: string): number =>
  token.startsWith('"') ? (token.match(/\\.?/gs) ?? []).length : Number(/^[ \t\r\n]$/.test(token));

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
const countOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, each) => sum + countOf(each), 1)
    : 1;

const fieldsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>(
        (sum, each) => sum + fieldsOf(each),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      )
    : 0;

const BOUNDS = ['depth', 'values', 'fields', 'numberChars', 'padding'] as const;
const bytes = (text: string) => new TextEncoder().encode(text);

/** Within its own size, and no longer when any of it is less by one. */
function expectSize(text: string, size: JsonBounds): void {
  expect(isWithin(bytes(text), size)).toBe(true);
  for (const bound of BOUNDS) {
    if (size[bound] > 0)
      expect([bound, isWithin(bytes(text), { ...size, [bound]: size[bound] - 1 })]).toEqual([bound, false]);
  }
}

test('of JSON the bounds are its depth, its fields, no fewer values than it has, and its longest number', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' }),
      fc.constantFrom(undefined, 1, '\t'),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const size = sizeOf(text);
        expectSize(text, size);
        expect(size.depth).toBe(depthOf(JSON.parse(text)));
        expect(size.fields).toBe(fieldsOf(JSON.parse(text)));
        expect(size.values).toBeGreaterThanOrEqual(countOf(JSON.parse(text)));
      },
    ),
  );
});

test('of any other text they are what its tokens say', () => {
  const unit = fc.constantFrom(...'[]{},:"\\-+.eE0129 \n', 'a', 'é', '\u2028');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (text) => expectSize(text, sizeOf(text))),
    { numRuns: 2_000 },
  );
});

test.each([
  ['', { depth: 0, values: 1, fields: 0, numberChars: 0, padding: 0 }],
  ['[[{}],[]]', { depth: 3, values: 6, fields: 0, numberChars: 0, padding: 0 }],
  ['{"[[[[":"{\\"[,,,123"}', { depth: 1, values: 2, fields: 1, numberChars: 0, padding: 1 }],
  ['{"a\\\\":-1.5e+10,"b":"123456789"}', { depth: 1, values: 3, fields: 2, numberChars: 8, padding: 1 }],
  ['"not closed [[[', { depth: 0, values: 1, fields: 0, numberChars: 0, padding: 0 }],
  [' {"a" : "\\u0041\\""}\r\n', { depth: 1, values: 2, fields: 1, numberChars: 0, padding: 7 }],
])('%s has %j', (text, size) => {
  expectSize(text, size);
});
