import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { CHUNK_GAS, type ContractCall, packCalls } from './multicall.ts';

const call = fc.record({
  target: fc.constant<`0x${string}`>('0x00000000000000000000000000000000000000aa'),
  data: fc.integer({ min: 0, max: 300_000 }).map((bytes): `0x${string}` => `0x${'00'.repeat(bytes)}`),
  gas: fc.integer({ min: 1, max: CHUNK_GAS }),
});

const gasOf = (groups: readonly (readonly ContractCall[])[]) => groups.flat().reduce((sum, { gas }) => sum + gas, 0);

test('chunks keep groups whole and in order, and exceed the gas of a call only for a single group', () => {
  fc.assert(
    fc.property(fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), (groups) => {
      const chunks = packCalls(groups);
      expect(chunks.flat()).toEqual(groups);
      for (const chunk of chunks) expect(chunk.length === 1 || gasOf(chunk) <= CHUNK_GAS).toBe(true);
    }),
    { numRuns: runs(20) },
  );
});

test('calls that fit one chunk are one chunk', () => {
  const small = { target: '0x00000000000000000000000000000000000000aa', data: '0x', gas: 1_000 } as const;
  expect(packCalls(Array(100).fill([small, small]))).toHaveLength(1);
  expect(packCalls([])).toEqual([]);
});
