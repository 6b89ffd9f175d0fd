import { expect, test } from 'vitest';
import { nextSchemaName } from './index-schemas.ts';

test.each([
  [null, [], 'onchain_1'],
  [null, ['onchain_1'], 'onchain_2'],
  ['onchain_1', ['onchain_1'], 'onchain_2'],
  ['onchain_9', ['onchain_9'], 'onchain_10'],
  ['onchain_1', ['onchain_1', 'onchain_12', 'onchain_3'], 'onchain_13'],
  ['prod', ['prod', 'onchain_7'], 'prod_2'],
  ['onchain_2', ['onchain_2', 'onchain_old'], 'onchain_3'],
])('after %j, with %j there, comes %s', (served, taken, next) => {
  expect(nextSchemaName(served, taken)).toBe(next);
});
