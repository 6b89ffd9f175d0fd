import { expect, test } from 'vitest';
import type { ChainLag } from './chain-lag.ts';
import { captureWarnings } from './data-warnings.ts';

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
