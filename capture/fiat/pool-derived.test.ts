import fc from 'fast-check';
import { expect, test } from 'vitest';
import { derivePoolPrices, type PricingPool } from './pool-derived.ts';
import type { FiatPrice } from './price-sources.ts';

const Q64 = 2n ** 64n;
const at = (ms: number) => new Date(ms);
const known = (usd: number): FiatPrice => ({ usd, source: 'static', pricedAt: at(1000) });
const pool = (name: string, token0: number, token1: number, price: bigint, feeE6 = 1000n): PricingPool => ({
  pool: name,
  token0: `1:0x${token0}`,
  token1: `1:0x${token1}`,
  sellX64: (price * Q64 * 1_000_000n) / (1_000_000n + feeE6),
  buyX64: (price * Q64 * (1_000_000n + feeE6)) / 1_000_000n,
  capturedAt: at(500),
});

test('prices token0 by token1 and the other way round, as old as the older of its inputs', () => {
  const prices = derivePoolPrices(new Map([['1:0x2', known(2)]]), [pool('a', 1, 2, 300n), pool('b', 2, 3, 4n)]);
  expect(prices.get('1:0x1')).toEqual({ usd: expect.closeTo(600, 6), source: 'pool', pricedAt: at(500) });
  expect(prices.get('1:0x3')?.usd).toBeCloseTo(0.5, 9);
});

test('continues over several pools, and ignores what no pool connects', () => {
  const pools = [pool('c', 3, 4, 10n), pool('a', 1, 2, 10n), pool('b', 2, 3, 10n), pool('d', 8, 9, 1n)];
  const prices = derivePoolPrices(new Map([['1:0x1', known(1000)]]), pools);
  expect(prices.get('1:0x4')?.usd).toBeCloseTo(1, 9);
  expect(prices.has('1:0x8')).toBe(false);
});

test('never replaces a known price, and takes the pool with the narrowest spread', () => {
  const pools = [pool('wide', 1, 2, 900n, 50_000n), pool('narrow', 1, 2, 300n, 10n), pool('self', 2, 5, 7n)];
  const prices = derivePoolPrices(new Map([['1:0x2', known(1)]]), pools);
  expect(prices.get('1:0x1')?.usd).toBeCloseTo(300, 3);
  expect(prices.get('1:0x2')).toEqual(known(1));
});

test('a pool without usable prices gives none', () => {
  const closed = { ...pool('a', 1, 2, 5n), sellX64: 0n };
  expect(derivePoolPrices(new Map([['1:0x2', known(1)]]), [closed]).size).toBe(1);
});

test('a price beyond any token is none, whether it is too large or no number', () => {
  const expensive = { ...pool('dear', 1, 2, 1n), sellX64: 2n ** 127n, buyX64: 2n ** 127n };
  const cheap = { ...pool('cheap', 2, 3, 1n), sellX64: 1n, buyX64: 1n };
  const nothing = { ...pool('nothing', 4, 5, 1n), sellX64: 1n, buyX64: 1n };
  const prices = derivePoolPrices(
    new Map([
      ['1:0x2', known(1e6)],
      ['1:0x4', known(0)],
    ]),
    [expensive, cheap, nothing],
  );
  expect([...prices.keys()]).toEqual(['1:0x2', '1:0x4', '1:0x5']);
});

test('the order of the pools does not matter', () => {
  const pools = [pool('a', 1, 2, 3n, 5n), pool('b', 2, 3, 5n, 7n), pool('c', 1, 3, 16n, 9n), pool('d', 3, 4, 2n, 5n)];
  const expected = [...derivePoolPrices(new Map([['1:0x1', known(9)]]), pools)].sort();
  fc.assert(
    fc.property(fc.shuffledSubarray(pools, { minLength: pools.length }), (shuffled) => {
      expect([...derivePoolPrices(new Map([['1:0x1', known(9)]]), shuffled)].sort()).toEqual(expected);
    }),
  );
});
