import { expect, test } from 'vitest';
import { type IndexAudit, NO_AUDIT } from '../../quoting/pools/chain-catalog.ts';
import type { ChainLag } from './chain-lag.ts';
import { auditWarnings, captureWarnings } from './data-warnings.ts';

const lagOf = (indexedBlock: number | null) => ({ chainId: 7, indexedBlock }) as ChainLag;
const NONE = { newestPriceAgeSecs: null, listingAgeSecs: null };

test.each([
  ['nothing while capture runs', 5, { newestPriceAgeSecs: 3, listingAgeSecs: 2 }, {}],
  ['nothing at the limit', 5, { newestPriceAgeSecs: 60, listingAgeSecs: 60 }, {}],
  ['nothing of pools that have no price yet', 5, { listingAgeSecs: 2 }, {}],
  ['nothing before there is an index', null, {}, {}],
  [
    'a listing that stands still',
    5,
    { newestPriceAgeSecs: 61, listingAgeSecs: 61 },
    { 'capture-7': 'capture last computed the listing 61 s ago' },
  ],
  [
    'prices that stand still',
    5,
    { newestPriceAgeSecs: 61, listingAgeSecs: 1 },
    { 'capture-7': 'capture last read a price 61 s ago' },
  ],
  ['a listing that never came', 5, {}, { 'capture-7': 'capture has not computed the listing yet' }],
])('warns of %s', (_name, indexedBlock, ages, expected) => {
  expect(captureWarnings([lagOf(indexedBlock)], () => ({ ...NONE, ...ages }))).toEqual(expected);
});

test('warns of an index that is not what the chain holds, and names ten pools and factories at most', () => {
  const poolAt = (digit: number) => ({ poolAddress: `0x${digit}` as const, agreedBlock: 40 + digit });
  const warn = (audit: IndexAudit) => auditWarnings([lagOf(5)], () => ({ audit }));
  expect(warn({ ...NO_AUDIT, auditedToBlock: 5, lastDifferenceAt: 9 })).toEqual({});
  const factory = { factory: '0xf', agreedBlock: null } as const;
  expect(warn({ ...NO_AUDIT, differingPools: [poolAt(1)], differingFactories: [factory] })).toEqual({
    'index-7': 'the index differs from the chain: pool 0x1 after block 41, pools of factory 0xf',
  });
  const many = Array.from({ length: 12 }, (_, index) => poolAt(index));
  expect(warn({ ...NO_AUDIT, differingPools: many })['index-7']).toMatch(/pool 0x9 after block 49 and 2 more$/);
});
