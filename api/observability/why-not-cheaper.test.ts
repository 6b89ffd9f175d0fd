import { expect, test } from 'vitest';
import type { CurveKnowledge } from '../../protocol/curve-search.ts';
import { whyNotCheaper } from './why-not-cheaper.ts';

const code = { provider: '0x1', poolHash: '0x2', providerHash: '0x3' } as const;
const tried = (names: readonly string[]): CurveKnowledge => ({ form: 'sender', formulas: { names, code } });
const sides = { bids: {}, asks: {} } as never;

test('each rank says why no cheaper one served, as far as it is known', () => {
  const end = { kind: 'sides', sides, dropped: null } as const;
  expect(whyNotCheaper({ ...end, rank: 'formula', known: tried(['older']) })).toBeNull();
  expect(whyNotCheaper({ ...end, rank: 'fit', known: tried([]) })).toMatch(/^no known formula agrees/);
  expect(whyNotCheaper({ ...end, rank: 'fit', known: undefined })).toMatch(/too few swaps/);
  expect(whyNotCheaper({ ...end, rank: 'fit', known: undefined, dropped: 'code' })).toMatch(/^the code of the pool/);
  expect(whyNotCheaper({ ...end, rank: 'simulation', known: tried([]) })).toMatch(/^no known.*; no fit is proved/);
  const failed = { kind: 'failed', reason: 'the provider told no quote', known: undefined, dropped: null } as const;
  expect(whyNotCheaper(failed)).toBe('the provider told no quote');
});
