import { expect, test } from 'vitest';
import { behindHeads, countBlocks } from './progress.ts';

test('blocks are counted from the first one of each chain to its head', () => {
  const position = {
    startBlocks: new Map([
      [1, 100],
      [56, 0],
      [137, 50],
    ]),
    indexed: new Map([
      [1, 150],
      [56, 40],
    ]),
    heads: new Map([
      [1, 300],
      [56, 30],
      [137, 40],
    ]),
  };
  // Chain 56 is indexed beyond the head that was seen; chain 137 has not reached its first block.
  expect(countBlocks(position)).toEqual({ totalBlocks: 200 + 30 + 0, doneBlocks: 50 + 30 + 0 });
});

test('chains are behind until they are indexed to their heads', () => {
  const startBlocks = new Map([
    [1, 0],
    [56, 0],
    [137, 5],
  ]);
  const heads = new Map([
    [1, 100],
    [56, 100],
    [137, 9],
  ]);
  const indexed = new Map([
    [1, 99],
    [56, 100],
  ]);
  expect(behindHeads({ startBlocks, indexed, heads })).toEqual([1, 137]);
});
