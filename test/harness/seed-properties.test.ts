import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PROPERTY_SEED } from './property-seed.ts';

const REPEAT = `PROPERTY_SEED=${PROPERTY_SEED} npx vitest run test/harness/seed-properties.test.ts`;

test('a property that fails names the command that repeats it', async () => {
  expect(() => fc.assert(fc.property(fc.integer(), (n) => n < 100))).toThrow(REPEAT);
  await expect(fc.assert(fc.asyncProperty(fc.integer(), async (n) => n < 100))).rejects.toThrow(REPEAT);
});

test('a property draws the same examples in every run', () => {
  const draw = () => {
    const drawn: number[] = [];
    fc.assert(fc.property(fc.integer(), (n) => drawn.push(n) > 0));
    return drawn;
  };
  expect(draw()).toEqual(draw());
});
