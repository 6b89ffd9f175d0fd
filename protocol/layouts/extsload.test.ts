import fc from 'fast-check';
import { decodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { decodeExtsload, encodeExtsload } from './extsload.ts';

const abi = parseAbi(['function extsload(bytes32[] slots) view returns (bytes32[])']);
const word = fc
  .array(fc.integer({ min: 0, max: 255 }), { minLength: 32, maxLength: 32 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const words = fc.array(word, { maxLength: 40 });

test('calldata and answers are those of Solidity', () => {
  fc.assert(
    fc.property(words, (slots) => {
      expect(decodeFunctionData({ abi, data: encodeExtsload(slots) }).args).toEqual([slots]);
      expect(decodeExtsload(encodeFunctionResult({ abi, result: slots }))).toEqual(slots);
    }),
  );
});

test('a truncated response, or one without a list, is reported', () => {
  fc.assert(
    fc.property(words, fc.nat(), (slots, cut) => {
      const answer = encodeFunctionResult({ abi, result: slots });
      const short = answer.slice(0, 2 + (cut % (answer.length - 2))) as Hex;
      expect(() => decodeExtsload(short)).toThrow(RangeError);
    }),
  );
  const other = `0x${'00'.repeat(31)}40${'00'.repeat(64)}` as const;
  expect(() => decodeExtsload(other)).toThrow(RangeError);
});
