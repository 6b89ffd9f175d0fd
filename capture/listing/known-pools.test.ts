import { expect, test } from 'vitest';
import { poolKey } from '../changes/pool-key.ts';
import { tokenKey } from '../fiat/token-key.ts';
import { knownPool, pastDue } from './known-pools.ts';

const tokens = [tokenKey(1, '0x01'), tokenKey(1, '0x02')] as const;
const KEY = poolKey(1, '0x99');

test.each([
  ['holds as much as the setting says', 6, 'now'],
  ['holds less', 7, 'later'],
])('after a change of prices a pool that %s is computed at once or in turn', (_name, fundedUsd, when) => {
  const [before, prices] = [new Map([[tokens[0], 1]]), new Map([[tokens[0], 2]])];
  const pool = knownPool({ tokens, amounts: [3, 5], nextChangeAt: null }, before, fundedUsd);
  if (!pool) throw new Error('the pool is forgotten');
  const due = pastDue(new Map([[KEY, pool]]), 1_000, new Set([tokens[0]]), prices, fundedUsd);
  expect(due).toEqual({ now: [], later: [], [when]: [KEY] });
});
