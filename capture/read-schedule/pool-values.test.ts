import { expect, test } from 'vitest';
import { markFunded } from './pool-values.ts';

test('funded are the richest pools from the least value on, as many as the budget can read', () => {
  const values = [0, 10, 9.99, 5_000, ...Array.from({ length: 200 }, () => 11)];
  const marked = markFunded(
    values.map((valueUsd, index) => ({ valueUsd, index })),
    { callsPerMinute: 20, minFundedUsd: 10 },
  );
  expect(marked.map(({ index }) => index)).toEqual(values.map((_, index) => index));
  expect(marked.slice(0, 4).map(({ isFunded }) => isFunded)).toEqual([false, false, false, true]);
  expect(marked.filter(({ isFunded }) => isFunded)).toHaveLength(160);
});
