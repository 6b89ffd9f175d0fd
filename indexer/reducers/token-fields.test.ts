import fc from 'fast-check';
import { encodeAbiParameters, type Hex, numberToHex, size, sliceHex, stringToHex } from 'viem';
import { expect, test } from 'vitest';
import { decodeTokenDecimals, decodeTokenText, TOKEN_ANSWER_BYTES } from './token-fields.ts';

const abiString = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);
/** What is kept of an answer. */
const cut = (answer: Hex) => sliceHex(answer, 0, Math.min(size(answer), TOKEN_ANSWER_BYTES));
const word = (value: bigint | number) => numberToHex(value, { size: 32 });

test.each<[string, Hex | null, string | null]>([
  ['an ABI string', abiString('USDC'), 'USDC'],
  [
    'a long ABI string',
    abiString('A token with a name longer than one word'),
    'A token with a name longer than one word',
  ],
  ['bytes32 padded with zeros', stringToHex('MKR', { size: 32 }), 'MKR'],
  ['bytes32 without padding', stringToHex('x'.repeat(32)), 'x'.repeat(32)],
  ['text beyond ASCII', abiString('USD₮0'), 'USD₮0'],
  ['control and direction characters, markup', abiString('A\u0000B\u202e\n<b>C'), 'AB\u202e\n<b>C'],
  ['no UTF-8', stringToHex('A', { size: 1 }).concat('ff41', '00'.repeat(29)) as Hex, 'A\ufffdA'],
  ['which only the beginning was read', cut(abiString('x'.repeat(10_000))), 'x'.repeat(191)],
  ['which a character was cut', cut(abiString(`x${'é'.repeat(200)}`)), `x${'é'.repeat(95)}`],
  [
    'a length beyond any answer',
    cut(`${word(32)}${word(1n << 255n).slice(2)}${'41'.repeat(300)}` as Hex),
    'A'.repeat(191),
  ],
  ['an empty string', abiString(''), null],
  ['an empty bytes32', word(0), null],
  ['no answer', null, null],
  ['an empty answer', '0x', null],
  ['less than a word', '0x1234', null],
  ['an offset beyond the answer', `${word(1n << 200n)}${word(3).slice(2)}`, null],
  ['a length beyond the answer', `${word(32)}${word(33).slice(2)}${word(0).slice(2)}`, null],
])('text of %s', (_, answer, expected) => {
  expect(decodeTokenText(answer)).toBe(expected);
});

test.each<[string, Hex | null, number | null]>([
  ['6', word(6), 6],
  ['0', word(0), 0],
  ['255', word(255), 255],
  ['more than a uint8 holds', word(256), null],
  ['a huge number', word((1n << 256n) - 1n), null],
  ['no answer', null, null],
  ['an empty answer', '0x', null],
])('decimals of %s', (_, answer, expected) => {
  expect(decodeTokenDecimals(answer)).toBe(expected);
});

test('no answer of a token, however odd, throws or yields text that Postgres refuses', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: TOKEN_ANSWER_BYTES }), (bytes) => {
      const answer: Hex = `0x${Buffer.from(bytes).toString('hex')}`;
      const text = decodeTokenText(answer);
      expect(
        text === null || (text.length > 0 && !text.includes('\u0000') && Buffer.from(text).toString() === text),
      ).toBe(true);
      const decimals = decodeTokenDecimals(answer);
      expect(decimals === null || (decimals >= 0 && decimals <= 255)).toBe(true);
    }),
  );
});
