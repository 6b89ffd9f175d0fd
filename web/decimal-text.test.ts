import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalText, readDecimal } from './decimal-text.ts';

const LOCALES = [
  'en',
  'de',
  'fr',
  'de-CH',
  'es',
  'pl',
  'pt-BR',
  'hi',
  'en-IN',
  'ar-EG',
  'fa',
  'ja',
  'sv',
  'bn',
  'en-ZA',
  'it',
  'tr',
];

describe.each([
  ['en', ['1', '1'], ['1.5', '1.5'], ['.5', '0.5'], ['1.', '1'], ['1.500', '1.500'], ['1,234.5', '1234.5']],
  ['en', [' 1 000 ', '1000'], ["1'000.5", '1000.5'], ['1_000', '1000'], ['1,234,567', '1234567'], ['007', '7']],
  ['de', ['1,5', '1.5'], [',5', '0.5'], ['1,500', '1.500'], ['1.234,5', '1234.5'], ['1.234.567', '1234567']],
  ['fr', ['1,5', '1.5'], ['1.5', '1.5'], ['1\u202f234,5', '1234.5'], ['1.500', '1.500']],
  ['de-CH', ['1.5', '1.5'], ['1,5', '1.5'], ['1’234.5', '1234.5']],
  ['es', ['1234,5', '1234.5'], ['12.345,5', '12345.5'], ['1.234,5', '1234.5']],
  ['hi', ['12,34,567.5', '1234567.5']],
  ['ar-EG', ['١٬٢٣٤٫٥', '1234.5'], ['1.5', '1.5']],
] as const)('in %s', (locale, ...cases) => {
  test.each(cases)('%j is %s', (text, plain) => {
    expect(readDecimal(text, locale)).toBe(plain);
  });
});

test.each([
  ['en', '1,5'],
  ['en', '1,500'],
  ['en', '1,23,456'],
  ['en', '1.234,5'],
  ['de', '1.5'],
  ['de', '1.500'],
  ['de', '1,234.5'],
  ['fr', '1.234,5'],
  ['hi', '1,234,567'],
  ...['', '.', ',', '-1', '1e3', 'x', '1.2.3', '1,', '0x1', '¹', '∞', '1..'].map((text) => ['en', text] as const),
])('in %s, "%s" is ambiguous or no number', (locale, text) => {
  expect(readDecimal(text, locale)).toBeNull();
});

/** A decimal as the API writes it, without needless zeros. */
const plainDecimal = fc
  .tuple(fc.oneof(fc.bigInt(0n, 2_000_000n), fc.bigInt(0n, 10n ** 30n)), fc.stringMatching(/^(\d{0,17}[1-9])?$/))
  .map(([whole, fraction]) => `${whole}${fraction && `.${fraction}`}`);

test.each(LOCALES)(
  'what %s writes is read back exactly, or refused where a point or comma alone is in doubt',
  (locale) => {
    fc.assert(
      fc.property(plainDecimal, fc.boolean(), (plain, useGrouping) => {
        const format = new Intl.NumberFormat(locale, { useGrouping, maximumFractionDigits: 20 });
        const text = format.format(plain as `${number}`);
        const inDoubt = /^\p{Nd}{1,3}[.,]\p{Nd}{3}$/u.test(text) && !plain.includes('.');
        expect(readDecimal(text, locale)).toBe(inDoubt ? null : plain);
        expect(readDecimal(decimalText(plain, locale), locale)).toBe(plain);
      }),
    );
  },
);

test('a text means the same amount to all readers who may type it', () => {
  const parts = fc.constantFrom('1', '2', '500', '000', '.', ',', '’', ' ', '٫');
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (texts) => {
      const read = LOCALES.map((locale) => readDecimal(texts.join(''), locale));
      expect(new Set(read.filter((plain) => plain !== null)).size).toBeLessThanOrEqual(1);
    }),
    { numRuns: 500 },
  );
});
