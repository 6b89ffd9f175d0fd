import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withLowerDistances } from './bin-geometry.ts';

const fees = { addFeeBuyE6: 0, addFeeSellE6: 0 };

test('distances grow by lengths above the first bin and shrink by them below', () => {
  const bins = [
    { bin: -2, lengthE6: 300, ...fees },
    { bin: -1, lengthE6: 200, ...fees },
    { bin: 0, lengthE6: 100, ...fees },
    { bin: 1, lengthE6: 50, ...fees },
  ];
  const placed = withLowerDistances({ bins, curBinDistE6: -40 });
  expect(placed.map(({ bin, lowerDistE6 }) => [bin, lowerDistE6])).toEqual([
    [-2, -540],
    [-1, -240],
    [0, -40],
    [1, 60],
  ]);
});

test('a walk of the cursor from the first bin meets the same distances', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(lengths, fc.nat(), fc.integer({ min: -8_000_000, max: 8_000_000 }), (all, pick, curBinDistE6) => {
      const below = pick % all.length;
      const bins = all.map((lengthE6, index) => ({ bin: index - below, lengthE6, ...fees }));
      const placed = new Map(withLowerDistances({ bins, curBinDistE6 }).map((each) => [each.bin, each]));
      const lengthOf = (bin: number) => placed.get(bin)?.lengthE6 ?? Number.NaN;
      let up = curBinDistE6;
      for (let bin = 0; placed.has(bin); bin++) {
        expect(placed.get(bin)?.lowerDistE6).toBe(up);
        up += lengthOf(bin);
      }
      let down = curBinDistE6;
      for (let bin = -1; placed.has(bin); bin--) {
        down -= lengthOf(bin);
        expect(placed.get(bin)?.lowerDistE6).toBe(down);
      }
    }),
  );
});
