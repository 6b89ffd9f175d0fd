import fc from 'fast-check';
import { type Hex, toHex } from 'viem';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail, UNKNOWN_HEIGHT } from './chain-tail.ts';

const hashOf = (branch: string, height: number): Hex => toHex(`${branch} ${height}`, { size: 32 });

/** Blocks of two branches that share those below `fork`. */
function tailOf(branch: string, { from, length, fork }: { from: number; length: number; fork: number }): ChainTail {
  const hashes = Array.from({ length: length + 1 }, (_, index) => {
    const height = from - 1 + index;
    return hashOf(height < fork ? 'shared' : branch, height);
  });
  const [hash, ...parents] = hashes.toReversed() as [Hex, ...Hex[]];
  const number = BigInt(from - 1 + length);
  return ChainTail.EMPTY.endingWith({ number, hash, timestamp: 0n, parents });
}

test('a branch replaces blocks from the first that it does not have; this is unknown below what both remember', () => {
  const shape = fc.record({ from: fc.integer({ min: 1, max: 9 }), length: fc.integer({ min: 1, max: 9 }) });
  const property = fc.property(shape, shape, fc.integer({ min: 1, max: 20 }), (one, other, fork) => {
    const [before, next] = [tailOf('a', { ...one, fork }), tailOf('b', { ...other, fork })];
    let expected: bigint | null = null;
    const [lowest = 0n] = [before.from, next.from].sort((a, b) => Number(b - a));
    for (let height = lowest; height <= before.top && expected === null; height += 1n) {
      if (before.hashAt(height) === next.hashAt(height)) continue;
      expected = height === lowest && lowest > before.from ? UNKNOWN_HEIGHT : height;
    }
    if (lowest > before.top) expected = UNKNOWN_HEIGHT;
    expect(before.replacedFrom(next)).toBe(expected);
    expect(before.replacedFrom(before)).toBeNull();
  });
  fc.assert(property, { numRuns: runs(500) });
});

test('before the first block nothing is replaced, and without blocks of the other all are', () => {
  const tail = tailOf('a', { from: 3, length: 4, fork: 1 });
  expect(ChainTail.EMPTY.replacedFrom(tail)).toBeNull();
  expect(tail.replacedFrom(ChainTail.EMPTY)).toBe(2n);
});
