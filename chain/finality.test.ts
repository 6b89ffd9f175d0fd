import { expect, test } from 'vitest';
import { finalityBlocks } from './finality.ts';

const PONDER = import.meta.resolve('ponder');

test('the finality window is the one that Ponder takes for a chain', async () => {
  const { getFinalityBlockCount } = (await import(new URL('utils/finality.js', PONDER).href)) as {
    readonly getFinalityBlockCount: (of: { readonly chain: { readonly id: number } }) => number;
  };
  const known = [1, 3, 4, 5, 42, 11_155_111, 137, 80_001, 42_161, 42_170, 421_611, 421_613];
  for (const id of [...known, 10, 56, 143, 999, 4_326, 4_663, 8_453, 43_114, 31_337]) {
    expect([id, finalityBlocks(id)]).toEqual([id, getFinalityBlockCount({ chain: { id } })]);
  }
});
