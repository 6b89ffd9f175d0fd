import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lowerDistances } from './bins.ts';

const fees = { addFeeBuyE6: 0, addFeeSellE6: 0 };

test('distances grow by lengths above the first bin and shrink by them below', () => {
  const bins = [
    { bin: -2, lengthE6: 300, ...fees },
    { bin: -1, lengthE6: 200, ...fees },
    { bin: 0, lengthE6: 100, ...fees },
    { bin: 1, lengthE6: 50, ...fees },
  ];
  expect(lowerDistances({ bins, curBinDistE6: -40 })).toEqual([-540, -240, -40, 60]);
});

test('a walk of the cursor from the first bin meets the same distances', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(lengths, fc.nat(), fc.integer({ min: -8_000_000, max: 8_000_000 }), (all, pick, curBinDistE6) => {
      const below = pick % all.length;
      const bins = all.map((lengthE6, index) => ({ bin: index - below, lengthE6, ...fees }));
      const distances = lowerDistances({ bins, curBinDistE6 });
      let up = curBinDistE6;
      for (let index = below; index < all.length; index++) {
        expect(distances[index]).toBe(up);
        up += all[index] ?? Number.NaN;
      }
      let down = curBinDistE6;
      for (let index = below - 1; index >= 0; index--) {
        down -= all[index] ?? Number.NaN;
        expect(distances[index]).toBe(down);
      }
    }),
  );
});
