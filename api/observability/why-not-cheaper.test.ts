import { expect, test } from 'vitest';
import type { CurveKnowledge } from '../../protocol/curve-search.ts';
import { whyNotCheaper } from './why-not-cheaper.ts';

const code = { accounts: ['0x1', '0x2'], hashes: ['0x3', '0x4'] } as const;
const tried = (names: readonly string[], distrust: string | null = null): CurveKnowledge => ({
  form: 'sender',
  formulas: { names, code, distrust },
});
const sides = { bids: {}, asks: {} } as never;

test('each rank says why no cheaper one served, as far as it is known', () => {
  const end = { kind: 'sides', sides, dropped: null } as const;
  expect(whyNotCheaper({ ...end, rank: 'formula', known: tried(['older']) })).toBeNull();
  expect(whyNotCheaper({ ...end, rank: 'fit', known: tried([]) })).toBe('no known formula agrees with the pool');
  const untrusted = tried([], 'its provider is a proxy');
  expect(whyNotCheaper({ ...end, rank: 'fit', known: untrusted })).toMatch(
    /^a formula agrees.*its provider is a proxy$/,
  );
  expect(whyNotCheaper({ ...end, rank: 'fit', known: undefined })).toMatch(/too few swaps/);
  expect(whyNotCheaper({ ...end, rank: 'fit', known: undefined, dropped: 'code' })).toMatch(/^the code of the pool/);
  expect(whyNotCheaper({ ...end, rank: 'simulation', known: tried([]) })).toMatch(/^no known.*; no fit is proved/);
  const failed = { kind: 'failed', reason: 'the provider told no quote', known: undefined, dropped: null } as const;
  expect(whyNotCheaper(failed)).toBe('the provider told no quote');
});
