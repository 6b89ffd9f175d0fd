import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextTurn } from '../../runtime/next-turn.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { type EventRow, priceOf, type SitePool, writeSiteEvents } from './site-events.ts';

const amount = fc.bigInt(1n, 2n ** 127n);
const decimals = fc.integer({ min: 0, max: 36 });

/** A decimal as a fraction: its digits, and the power of ten below them. */
function fractionOf(text: string): readonly [bigint, bigint] {
  const [whole = '', fraction = ''] = text.split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
}

test('a price is the quotient of whole tokens, at most 1 in 10^23 below it, not zero and without exponent', () => {
  fc.assert(
    fc.property(amount, decimals, amount, decimals, (amount0, decimals0, amount1, decimals1) => {
      const text = priceOf([amount0, amount1], [decimals0, decimals1]);
      expect(text).toMatch(/^\d+(\.\d*[1-9])?$/);
      const [digits, unit] = fractionOf(text);
      // digits / unit <= dividend / divisor, and no more than the last digit that counts below it.
      const dividend = amount1 * 10n ** BigInt(decimals0) * unit;
      const product = digits * amount0 * 10n ** BigInt(decimals1);
      expect(digits).toBeGreaterThan(0n);
      expect(product <= dividend && (dividend - product) * 10n ** 23n <= dividend).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

test('prices of amounts far apart keep their digits', () => {
  expect(priceOf([10n ** 18n, 1n], [18, 18])).toBe('0.000000000000000001');
  expect(priceOf([3n, 10n ** 30n], [0, 0])).toBe('333333333333333333333333333333');
  expect(priceOf([3n, 1n], [36, 0])).toBe('333333333333333333333333333333333333');
  expect(priceOf([3n, 2n], [0, 0])).toBe('0.666666666666666666666666');
});

test('others are served while the events of a long range are written', async () => {
  const address = `0x${'0a'.repeat(20)}` as const;
  const hash = `0x${'0b'.repeat(32)}` as const;
  const pool: SitePool = {
    address,
    factory: address,
    token0: address,
    token1: address,
    decimals0: 18,
    decimals1: 6,
    creator: address,
    createdBlockNumber: 1,
    createdTimestamp: 1,
    createdTransactionHash: hash,
    leftOut: null,
  };
  const rows = Array.from(
    { length: 50_000 },
    (_, logIndex): EventRow => ({
      blockNumber: 7,
      blockTimestamp: 8,
      logIndex,
      pool: address,
      kind: 'swap',
      transactionHash: hash,
      transactionIndex: 0,
      transactionFrom: address,
      amount0: '1000000000000000000',
      amount1: '-3000000000',
      reserve0: '5000000000000000000',
      reserve1: '6000000000',
      total: 0,
    }),
  );
  let isWritten = false;
  const writing = writeSiteEvents(rows, new Map([[address, pool]])).finally(() => {
    isWritten = true;
  });
  let turns = 0;
  for (; !isWritten; turns += 1) await nextTurn();
  expect(turns).toBeGreaterThanOrEqual(20);
  const { events } = JSON.parse((await writing).json);
  expect(events.map(({ eventIndex }: { eventIndex: number }) => eventIndex)).toEqual(rows.map((row) => row.logIndex));
});
