import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBinData } from '../../devnet/pool-words.ts';
import { decodeBinData } from './bin-data.ts';

const uint16 = fc.integer({ min: 0, max: 65_535 });
const entry = fc.record({ lengthE6: fc.integer({ min: 1, max: 65_535 }), addFeeBuyE6: uint16, addFeeSellE6: uint16 });
const bins = fc
  .tuple(fc.array(entry, { maxLength: 12 }), fc.array(entry, { maxLength: 12 }))
  .map(([below, above]) => [...below, ...above].map((bin, index) => ({ bin: index - below.length, ...bin })));

describe('bin data', () => {
  it('is read 48 bits at a time from the least significant, upwards and downwards from zero', () => {
    const first = 0x0003_0002_0001n;
    const second = 0x0006_0005_0004n;
    expect(decodeBinData([first | (second << 48n)], [second])).toEqual([
      { bin: -1, lengthE6: 4, addFeeBuyE6: 5, addFeeSellE6: 6 },
      { bin: 0, lengthE6: 1, addFeeBuyE6: 2, addFeeSellE6: 3 },
      { bin: 1, lengthE6: 4, addFeeBuyE6: 5, addFeeSellE6: 6 },
    ]);
  });

  it('ends at a zero length, even if a word follows', () => {
    expect(decodeBinData([1n, 1n], [])).toEqual([{ bin: 0, lengthE6: 1, addFeeBuyE6: 0, addFeeSellE6: 0 }]);
  });

  it('takes five bins from a word and continues in the next, ignoring the top 16 bits', () => {
    const five = [0n, 1n, 2n, 3n, 4n].reduce((word, index) => word | ((index + 1n) << (index * 48n)), 0xffffn << 240n);
    expect(decodeBinData([five, 6n], []).map(({ lengthE6 }) => lengthE6)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('of no bins is empty', () => {
    expect(decodeBinData([], [])).toEqual([]);
  });

  it('comes back from its own encoding', () => {
    fc.assert(
      fc.property(bins, (shapes) => {
        const { nonNegative, negative } = encodeBinData(shapes);
        expect(decodeBinData(nonNegative, negative)).toEqual(shapes);
        expect(nonNegative.length).toBe(Math.ceil(shapes.filter(({ bin }) => bin >= 0).length / 5));
      }),
    );
  });
});
