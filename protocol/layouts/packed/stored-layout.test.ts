import { expect, test } from 'vitest';
import { packedStoredLayout } from './stored-layout.ts';

const sums = {
  salePlatformFeesHigh: 5n,
  salePlatformFeesLow: 7n,
  purchasePlatformFeesHigh: 11n,
  purchasePlatformFeesLow: 13n,
};
const fees = packedStoredLayout.platformFeesScaled;

test('fees by token need no more, fees by kind the token of the notional fee', () => {
  expect(fees({ platformFees: 'token' }, sums)).toEqual([16n, 20n]);
  expect(fees({ platformFees: 'kind', notional: 'input' }, sums)).toEqual([12n, 24n]);
  expect(fees({ platformFees: 'kind', notional: 'unspecified' }, sums)).toBeNull();
  expect(fees({ platformFees: 'kind' }, sums)).toBeNull();
  expect(fees({ notional: 'input' }, sums)).toBeNull();
});

test('without notional fees their token does not matter', () => {
  const none = { ...sums, salePlatformFeesLow: 0n, purchasePlatformFeesLow: 0n };
  expect(fees({ platformFees: 'kind', notional: 'unspecified' }, none)).toEqual([5n, 11n]);
});
