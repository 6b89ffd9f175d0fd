import fc from 'fast-check';
import { type Address, encodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi } from 'viem';
import { expect, test } from 'vitest';
import { decodeAggregate3, encodeAggregate3 } from './multicall3.ts';

const hexOf = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const aggregate3 = { abi: multicall3Abi, functionName: 'aggregate3' } as const;

test('calls are written as viem writes them', () => {
  const call = fc.record({ target: hexOf(20, 20).map((hex) => hex as Address), data: hexOf(0, 100) });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
      const tuples = calls.map(({ target, data }) => ({ target, allowFailure: true, callData: data }));
      expect(encodeAggregate3(calls)).toBe(encodeFunctionData({ ...aggregate3, args: [tuples] }));
    }),
  );
});

const results = fc.array(fc.record({ success: fc.boolean(), data: hexOf(0, 100) }), { maxLength: 12 });
const encode = (list: readonly { readonly success: boolean; readonly data: Hex }[]) =>
  encodeFunctionResult({ ...aggregate3, result: list.map(({ success, data }) => ({ success, returnData: data })) });

test('results are read from what viem writes', () => {
  fc.assert(
    fc.property(results, (list) => {
      expect(decodeAggregate3(encode(list))).toEqual(list);
    }),
  );
});

test('an answer that is cut anywhere is refused', () => {
  fc.assert(
    fc.property(results, fc.nat(), (list, seed) => {
      const answer = encode([...list, { success: true, data: '0x01' }]);
      const cut = answer.slice(0, 2 + 2 * (seed % (answer.length / 2 - 32))) as Hex;
      expect(() => decodeAggregate3(cut)).toThrow(RangeError);
    }),
  );
});

test('an answer of any words is read within its end or refused', () => {
  const word = fc.oneof(fc.nat(0x200).map(BigInt), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      const answer: Hex = `0x${words.map((value) => value.toString(16).padStart(64, '0')).join('')}`;
      try {
        for (const { data } of decodeAggregate3(answer)) expect(answer.slice(2)).toContain(data.slice(2));
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
  );
});
