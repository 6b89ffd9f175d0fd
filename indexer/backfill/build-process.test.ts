import { expect, test } from 'vitest';
import { reasonIn } from './build-process.ts';

test.each([
  ['', null],
  ['{"level":40,"msg":"only a warning"}', null],
  ['{"level":50,"msg":"cut in the', null],
  ['{"level":50,"msg":"Build failed"}', 'Build failed'],
  ['{"level":50,"msg":"Build failed","error":{"message":"first\\nsecond"}}', 'Build failed: first'],
  [
    'DATABASE_SCHEMA: another indexer writes schema "onchain_2"',
    'DATABASE_SCHEMA: another indexer writes schema "onchain_2"',
  ],
  [
    '{"level":60,"msg":"no answer of https://me:pw@node.io/v2/KEY?token=T, given up"}',
    'no answer of https://node.io given up',
  ],
  ['cannot reach postgres://me:pw@10.0.0.1:5432/pools', 'cannot reach postgres://10.0.0.1:5432'],
])('%j tells %j', (line, reason) => {
  expect(reasonIn(line)).toBe(reason);
});
