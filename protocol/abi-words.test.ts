import fc from 'fast-check';
import { type Address, encodeAbiParameters, type Hex, padHex } from 'viem';
import { expect, test } from 'vitest';
import { addressWord, wordAt } from './abi-words.ts';

test('words are those that viem wrote, and none is read past the end', () => {
  const values = fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(values, (words) => {
      const data = encodeAbiParameters(
        words.map(() => ({ type: 'uint256' })),
        words,
      );
      expect(words.map((_, index) => wordAt(data, index))).toEqual(words);
      expect(() => wordAt(data, words.length)).toThrow(RangeError);
      expect(() => wordAt(data.slice(0, -2) as Hex, words.length - 1)).toThrow(RangeError);
    }),
  );
});

test('an address is padded to a word', () => {
  const address: Address = `0x${'ab'.repeat(20)}`;
  expect(`0x${addressWord(address)}`).toBe(padHex(address, { size: 32 }));
});
