import { describe, expect, test } from 'vitest';
import { signedTx } from '../../test/pamm/sample-updates.ts';
import { ApiError } from '../errors.ts';
import type { QuoteBody } from './body-shape.ts';
import { toQuoteUpdate } from './quote-values.ts';

/** The edges of values that depend on the clock, which a request over HTTP cannot hit exactly. */

const BSC = { chainId: 56, kind: 'bsc' } as const;
const ETHEREUM = { chainId: 1, kind: 'ethereum' } as const;
const NOW_SECS = 1_800_000_000n;
const tx = await signedTx(BSC.chainId);

const body = (changes: Partial<QuoteBody>): QuoteBody => ({
  tx,
  blockNumber: 1n,
  replacementUuid: '00'.repeat(16),
  replacementSeqNumber: 1n,
  ...changes,
});

/** What is wrong with a body at this time, null for nothing. */
function complaint(changes: Partial<QuoteBody>, nowMs: number, chain: typeof BSC | typeof ETHEREUM = BSC) {
  try {
    toQuoteUpdate(body(changes), chain, nowMs);
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return error.message;
    throw error;
  }
}

describe('the expiry of a live BSC quote', () => {
  const nowMs = Number(NOW_SECS) * 1_000;
  const tooFar = 'maxTimestamp must be at most 5 seconds ahead';

  test('lies at most 5 seconds ahead, to the millisecond', () => {
    expect(complaint({ maxTimestamp: NOW_SECS + 5n }, nowMs)).toBeNull();
    expect(complaint({ maxTimestamp: NOW_SECS + 5n }, nowMs - 1)).toBe(tooFar);
    expect(complaint({ maxTimestamp: NOW_SECS + 6n }, nowMs + 999)).toBe(tooFar);
    expect(complaint({ maxTimestamp: NOW_SECS + 6n }, nowMs + 1_000)).toBeNull();
  });

  test('may be past or missing, and is not limited on a cancel or on Ethereum', async () => {
    expect(complaint({ maxTimestamp: 1n }, nowMs)).toBeNull();
    expect(complaint({}, nowMs)).toBeNull();
    expect(complaint({ tx: '0x', maxTimestamp: NOW_SECS + 6n }, nowMs)).toBeNull();
    expect(complaint({ tx: await signedTx(1), maxTimestamp: NOW_SECS + 6n }, nowMs, ETHEREUM)).toBeNull();
  });
});

test.each([
  [0n, 'maxTimestamp must be above 0'],
  [99_999_999_999n, null],
  [100_000_000_000n, 'maxTimestamp must be in seconds, not milliseconds'],
  [2n ** 64n - 1n, 'maxTimestamp must be in seconds, not milliseconds'],
])('maxTimestamp %d is refused on both chains, cancel or not: %s', async (maxTimestamp, expected) => {
  expect(complaint({ tx: '0x', maxTimestamp }, 0)).toBe(expected);
  expect(complaint({ tx: '0x', maxTimestamp }, 0, ETHEREUM)).toBe(expected);
  expect(complaint({ tx: await signedTx(1), maxTimestamp }, 0, ETHEREUM)).toBe(expected);
});

test('hex comes out in one spelling, with or without a prefix and whatever its case', () => {
  const update = toQuoteUpdate(
    body({
      tx: tx.slice(2).toUpperCase(),
      replacementUuid: `0X${'AB'.repeat(16)}`,
      quoteAddress: 'CD'.repeat(20),
      poolAddresses: [`0X${'Ef'.repeat(20)}`],
      assetPairs: ['0A'.repeat(40)],
    }),
    BSC,
    0,
  );
  expect(update).toEqual({
    chainId: 56,
    tx,
    blockNumber: 1n,
    replacementUuid: `0x${'ab'.repeat(16)}`,
    replacementSeqNumber: 1n,
    disableCrossRegionSharing: false,
    quoteAddress: `0x${'cd'.repeat(20)}`,
    poolAddresses: [`0x${'ef'.repeat(20)}`],
    assetPairs: [`0x${'0a'.repeat(40)}`],
  });
});
