import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { olderBlock } from './block-headers.ts';

test('of several blocks, the oldest is reported', () => {
  const block = fc.bigInt(0n, 1_000n).map((number): BlockRef => ({ number, hash: '0x', timestamp: number }));
  fc.assert(
    fc.property(fc.array(block, { minLength: 1 }), (blocks) => {
      const [oldest] = blocks.map(({ number }) => number).sort((one, other) => Number(one - other));
      expect(blocks.reduce(olderBlock).number).toBe(oldest);
    }),
  );
});
