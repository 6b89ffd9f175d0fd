import fc from 'fast-check';
import type { BidAsk } from '../../curve.ts';
import { Q64 } from '../../fixed-point.ts';
import { type BinState, MAX_POSITION, type PoolImmutables, type PoolState } from '../../pool-state.ts';
import { tokenScale } from '../../scaling.ts';
import type { PricedPool } from '../ladder.ts';
import { isTradableQuote, pricePool } from './geometry.ts';

/**
 * Random pools and quotes for property tests: small shapes, every decimal order,
 * cursors at edges more often than chance.
 */

const fee = fc.integer({ min: 0, max: 3_000 });
const fees = fc.record({ addFeeBuyE6: fee, addFeeSellE6: fee });
const lengthE6 = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 20_000 }));
const shape = fc.tuple(lengthE6, fees).map(([length, bin]) => ({ lengthE6: length, ...bin }));
const decimals = fc.constantFrom(0, 6, 8, 18, 24);

/** Scaled units from dust to 2^maxBits, evenly by magnitude, and sometimes nothing. */
function amount(maxBits: number): fc.Arbitrary<bigint> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(0n) },
    { weight: 6, arbitrary: fc.nat({ max: maxBits }).chain((bits) => fc.bigInt(1n, 1n << BigInt(bits))) },
  );
}

const position = fc.oneof(fc.constantFrom(0n, 1n, MAX_POSITION - 1n), fc.bigInt(0n, MAX_POSITION - 1n));

const immutables: fc.Arbitrary<PoolImmutables> = fc.record({
  lowestBin: fc.integer({ min: -6, max: 0 }),
  highestBin: fc.integer({ min: 0, max: 5 }),
  scale: fc.tuple(decimals, decimals).map(([decimals0, decimals1]) => tokenScale(decimals0, decimals1)),
});

/** States that a pool with these immutables could be in: token0 above the cursor, token1 below. */
export function poolStateOf({ lowestBin, highestBin, scale }: PoolImmutables, maxAmountBits = 100) {
  const binCount = highestBin - lowestBin + 1;
  const content = fc.tuple(shape, amount(maxAmountBits), amount(maxAmountBits));
  return fc
    .record({
      bin: fc.integer({ min: lowestBin, max: highestBin }),
      position,
      atLastEdge: fc.boolean(),
      contents: fc.array(content, { minLength: binCount, maxLength: binCount }),
      lowerDistE6: fc.integer({ min: -50_000, max: 50_000 }),
      notionalFeeE8: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000 })),
      spreadFeeE6: fc.integer({ min: 0, max: 1_000_000 }),
    })
    .map(({ bin, contents, atLastEdge, lowerDistE6, ...random }): PoolState => {
      const cursorPosition = bin === highestBin && atLastEdge ? MAX_POSITION : random.position;
      const bins = contents.map(([binShape, token0, token1], index): BinState => {
        const number = lowestBin + index;
        const has0 = number > bin || (number === bin && cursorPosition < MAX_POSITION);
        const has1 = number < bin || (number === bin && cursorPosition > 0n);
        return { ...binShape, token0Scaled: has0 ? token0 : 0n, token1Scaled: has1 ? token1 : 0n };
      });
      const { notionalFeeE8, spreadFeeE6 } = random;
      const cursor = { bin, position: cursorPosition, lowerDistE6 };
      return { lowestBin, highestBin, scale, pauseLevel: 0, cursor, spreadFeeE6, notionalFeeE8, bins };
    });
}

/** A pool that could be on a chain. */
export const poolState: fc.Arbitrary<PoolState> = immutables.chain((pool) => poolStateOf(pool));

/** Quotes around prices from 2^-maxBits to 2^maxBits, with spreads from a hair to a fifth. */
export function quoteUpTo(maxBits: number): fc.Arbitrary<BidAsk> {
  return fc
    .record({
      bits: fc.integer({ min: 64 - maxBits, max: 64 + maxBits }),
      fraction: fc.bigInt(0n, Q64),
      halfSpreadE9: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 100_000_000 })),
    })
    .map(({ bits, fraction, halfSpreadE9 }) => {
      const price = (1n << BigInt(bits)) + ((fraction << BigInt(bits)) >> 64n);
      const half = (price * BigInt(halfSpreadE9)) / 1_000_000_000n;
      return { bidX64: price - half, askX64: price + half };
    })
    .filter(isTradableQuote);
}

export const tradableQuote = quoteUpTo(30);

export const pricedPool: fc.Arbitrary<PricedPool> = fc
  .tuple(poolState, tradableQuote)
  .map(([state, quote]) => pricePool(state, quote));

/** Amounts (raw units) around what a pool holds: from one unit to far beyond. */
export const tradeAmount: fc.Arbitrary<bigint> = fc
  .nat({ max: 110 })
  .chain((bits) => fc.bigInt(1n, 1n << BigInt(bits)));
