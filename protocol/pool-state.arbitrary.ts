import fc from 'fast-check';
import { Q64 } from './fixed-point.ts';
import { isTradableQuote, type PricedPool, pricePool } from './geometry.ts';
import { type BinState, MAX_POSITION, type PoolState, type ProviderQuote } from './pool-state.ts';
import { tokenScale } from './scaling.ts';

/** Random pools and quotes for property tests: small shapes, every decimal order, cursors at edges more often than chance. */

const fee = fc.integer({ min: 0, max: 3_000 });
const fees = fc.record({ addFeeBuyE6: fee, addFeeSellE6: fee });
const lengthE6 = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 20_000 }));
const shape = fc.tuple(lengthE6, fees).map(([length, bin]) => ({ lengthE6: length, ...bin }));
const decimals = fc.constantFrom(0, 6, 8, 18, 24);

/** Scaled units from dust to 2^100, evenly by magnitude, and sometimes nothing. */
const amount = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0n) },
  { weight: 6, arbitrary: fc.nat({ max: 100 }).chain((bits) => fc.bigInt(1n, 1n << BigInt(bits))) },
);

const position = fc.oneof(fc.constantFrom(0n, 1n, MAX_POSITION - 1n), fc.bigInt(0n, MAX_POSITION - 1n));

interface Draft {
  readonly below: Omit<BinState, 'token0Scaled' | 'token1Scaled'>[];
  readonly fromZero: Omit<BinState, 'token0Scaled' | 'token1Scaled'>[];
}

const draft: fc.Arbitrary<Draft> = fc.record({
  below: fc.array(shape, { maxLength: 6 }),
  fromZero: fc.array(shape, { minLength: 1, maxLength: 6 }),
});

/** A pool that could be on a chain: token0 above the cursor, token1 below. */
export const poolState: fc.Arbitrary<PoolState> = draft.chain(({ below, fromZero }) => {
  const shapes = [...below, ...fromZero];
  const lowestBin = 0 - below.length;
  const highestBin = fromZero.length - 1;
  return fc
    .record({
      bin: fc.integer({ min: lowestBin, max: highestBin }),
      position,
      atLastEdge: fc.boolean(),
      amounts: fc.array(fc.tuple(amount, amount), { minLength: shapes.length, maxLength: shapes.length }),
      lowerDistE6: fc.integer({ min: -50_000, max: 50_000 }),
      notionalFeeE8: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000 })),
      spreadFeeE6: fc.integer({ min: 0, max: 1_000_000 }),
      decimals: fc.tuple(decimals, decimals),
    })
    .map((random): PoolState => {
      const cursorPosition = random.bin === highestBin && random.atLastEdge ? MAX_POSITION : random.position;
      const bins = shapes.map((bin, index): BinState => {
        const [token0, token1] = random.amounts[index] ?? [0n, 0n];
        const number = lowestBin + index;
        const has0 = number > random.bin || (number === random.bin && cursorPosition < MAX_POSITION);
        const has1 = number < random.bin || (number === random.bin && cursorPosition > 0n);
        return { ...bin, token0Scaled: has0 ? token0 : 0n, token1Scaled: has1 ? token1 : 0n };
      });
      return {
        lowestBin,
        highestBin,
        scale: tokenScale(...random.decimals),
        pauseLevel: 0,
        cursor: { bin: random.bin, position: cursorPosition, lowerDistE6: random.lowerDistE6 },
        spreadFeeE6: random.spreadFeeE6,
        notionalFeeE8: random.notionalFeeE8,
        bins,
      };
    });
});

/** Quotes around prices from 2^-30 to 2^30, with spreads from a hair to a fifth. */
export const tradableQuote: fc.Arbitrary<ProviderQuote> = fc
  .record({
    bits: fc.integer({ min: 34, max: 94 }),
    fraction: fc.bigInt(0n, Q64),
    halfSpreadE9: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 100_000_000 })),
  })
  .map(({ bits, fraction, halfSpreadE9 }) => {
    const price = (1n << BigInt(bits)) + ((fraction << BigInt(bits)) >> 64n);
    const half = (price * BigInt(halfSpreadE9)) / 1_000_000_000n;
    return { bidX64: price - half, askX64: price + half };
  })
  .filter(isTradableQuote);

export const pricedPool: fc.Arbitrary<PricedPool> = fc
  .tuple(poolState, tradableQuote)
  .map(([state, quote]) => pricePool(state, quote));

/** Amounts (raw units) around what a pool holds: from one unit to far beyond. */
export const tradeAmount: fc.Arbitrary<bigint> = fc
  .nat({ max: 110 })
  .chain((bits) => fc.bigInt(1n, 1n << BigInt(bits)));
