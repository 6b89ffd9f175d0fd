import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertUntil } from './assert-until.ts';

const NUM_RUNS = 4;

test('draws other values until there are enough, and no more', async () => {
  const drawn: number[] = [];
  const property = fc.property(fc.nat(), (value) => void drawn.push(value));
  await assertUntil(() => drawn.length >= 2 * NUM_RUNS, property, { numRuns: NUM_RUNS });
  expect(drawn).toHaveLength(2 * NUM_RUNS);
  expect(drawn.slice(NUM_RUNS)).not.toEqual(drawn.slice(0, NUM_RUNS));
});

test('fails with the first value that breaks the property, whatever was drawn before', async () => {
  let times = 0;
  const property = fc.property(fc.nat(), () => ++times <= NUM_RUNS);
  await expect(assertUntil(() => times > NUM_RUNS, property, { numRuns: NUM_RUNS })).rejects.toThrow('Repeat: ');
});

test('fails where no seed draws enough', async () => {
  const property = fc.property(fc.nat(), () => undefined);
  await expect(assertUntil(() => false, property, { numRuns: 1 })).rejects.toThrow('drew too little');
});
