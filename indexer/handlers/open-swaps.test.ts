import { expect, test } from 'vitest';
import type { BinSwapped } from '../../protocol/pool-events.ts';
import type { LogPlace } from './context.ts';
import { OpenSwaps } from './open-swaps.ts';

const POOL = '0x00000000000000000000000000000000000000aa';
const OTHER = '0x00000000000000000000000000000000000000bb';

const at = (logIndex: number, transactionHash: `0x${string}` = '0x01', chainId = 1): LogPlace => ({
  chainId,
  transactionHash,
  logIndex,
  blockNumber: 1,
  blockTimestamp: 1,
});

const part = (bin: number): BinSwapped => ({
  kind: 'binSwapped',
  bin,
  delta0Scaled: 1n,
  delta1Scaled: -1n,
  lpFeeScaled: 0n,
});

const binsOf = (parts: ReturnType<OpenSwaps<BinSwapped>['take']>) => parts.map(({ bin, logIndex }) => [bin, logIndex]);

test('a swap gets the parts that its pool logged before it, once', () => {
  const open = new OpenSwaps<BinSwapped>();
  open.add(at(3), POOL, part(0));
  open.add(at(4), POOL, part(1));
  expect(binsOf(open.take(at(5), POOL))).toEqual([
    [0, 3],
    [1, 4],
  ]);
  expect(open.take(at(6), POOL)).toEqual([]);
});

test('pools and chains are apart, also within a transaction', () => {
  const open = new OpenSwaps<BinSwapped>();
  open.add(at(1), POOL, part(0));
  open.add(at(2), OTHER, part(7));
  open.add(at(1, '0x01', 2), POOL, part(9));
  expect(binsOf(open.take(at(3), OTHER))).toEqual([[7, 2]]);
  expect(binsOf(open.take(at(4), POOL))).toEqual([[0, 1]]);
  expect(binsOf(open.take(at(4, '0x01', 2), POOL))).toEqual([[9, 1]]);
});

test('two swaps of one transaction have each their own', () => {
  const open = new OpenSwaps<BinSwapped>();
  open.add(at(1), POOL, part(0));
  expect(binsOf(open.take(at(2), POOL))).toEqual([[0, 1]]);
  open.add(at(3), POOL, part(1));
  expect(binsOf(open.take(at(4), POOL))).toEqual([[1, 3]]);
});

test('a block that is indexed again starts from scratch, wherever the first try stopped', () => {
  const open = new OpenSwaps<BinSwapped>();
  open.add(at(3), POOL, part(0));
  open.add(at(4), POOL, part(1));
  open.add(at(3), POOL, part(0));
  expect(binsOf(open.take(at(5), POOL))).toEqual([[0, 3]]);
});

test('parts of another transaction, or of a later place, are not taken', () => {
  const open = new OpenSwaps<BinSwapped>();
  open.add(at(3, '0x01'), POOL, part(0));
  expect(open.take(at(5, '0x02'), POOL)).toEqual([]);
  open.add(at(8), POOL, part(0));
  expect(open.take(at(5), POOL)).toEqual([]);
});
