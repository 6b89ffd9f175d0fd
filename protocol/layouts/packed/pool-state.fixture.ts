import fc from 'fast-check';
import { Q64 } from '../../fixed-point.ts';
import { type BinState, MAX_POSITION, type PoolImmutables, type PoolState } from '../../pool-state.ts';
import { tokenScale } from '../../scaling.ts';
import { type PricedPool, type ProviderQuote, pricePool } from '../ladder.ts';

/** Random packed pools and quotes: small shapes, every decimal order, cursors at edges more often than chance. */

const addFee = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 65_535 }));
const lengthE6 = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 20_000 }));
const decimals = fc.constantFrom(0, 6, 8, 18, 24);
const position = fc.oneof(fc.constantFrom(0n, 1n, MAX_POSITION - 1n), fc.bigInt(0n, MAX_POSITION - 1n));

/** Which balances a random pool has. */
export interface Amounts {
  /** Scaled units: powers of two between which balances lie, evenly by magnitude. */
  readonly minBits: number;
  readonly maxBits: number;
  /** Whether some bins hold nothing. */
  readonly empty: boolean;
}

const ANY_AMOUNTS: Amounts = { minBits: 0, maxBits: 80, empty: true };

function balance({ minBits, maxBits, empty }: Amounts): fc.Arbitrary<bigint> {
  const some = fc
    .integer({ min: minBits, max: maxBits })
    .chain((bits) => fc.bigInt(1n << BigInt(bits), 1n << BigInt(bits + 1)));
  return empty ? fc.oneof({ weight: 1, arbitrary: fc.constant(0n) }, { weight: 6, arbitrary: some }) : some;
}

export const immutables: fc.Arbitrary<PoolImmutables> = fc.record({
  lowestBin: fc.integer({ min: -6, max: 0 }),
  highestBin: fc.integer({ min: 0, max: 5 }),
  scale: fc.tuple(decimals, decimals).map(([decimals0, decimals1]) => tokenScale(decimals0, decimals1)),
});

/** States that a pool with these immutables could be in: token0 above the cursor, token1 below. */
export function poolStateOf({ lowestBin, highestBin, scale }: PoolImmutables, amounts: Amounts = ANY_AMOUNTS) {
  const binCount = highestBin - lowestBin + 1;
  const shape = fc.record({ lengthE6, addFeeBuyE6: addFee, addFeeSellE6: addFee });
  const content = fc.tuple(shape, balance(amounts), balance(amounts));
  return fc
    .record({
      bin: fc.integer({ min: lowestBin, max: highestBin }),
      position,
      atLastEdge: fc.boolean(),
      contents: fc.array(content, { minLength: binCount, maxLength: binCount }),
      evenFees: fc.boolean(),
      lowerDistE6: fc.integer({ min: -50_000, max: 50_000 }),
      notionalFeeE8: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000 })),
      spreadFeeE6: fc.integer({ min: 0, max: 500_000 }),
    })
    .map(({ bin, contents, atLastEdge, evenFees, lowerDistE6, notionalFeeE8, spreadFeeE6, ...random }): PoolState => {
      const cursorPosition = bin === highestBin && atLastEdge ? MAX_POSITION : random.position;
      const [first] = contents;
      const fees = evenFees && first ? { addFeeBuyE6: first[0].addFeeBuyE6, addFeeSellE6: first[0].addFeeSellE6 } : {};
      const bins = contents.map(([binShape, token0, token1], index): BinState => {
        const number = lowestBin + index;
        const has0 = number > bin || (number === bin && cursorPosition < MAX_POSITION);
        const has1 = number < bin || (number === bin && cursorPosition > 0n);
        return { ...binShape, ...fees, token0Scaled: has0 ? token0 : 0n, token1Scaled: has1 ? token1 : 0n };
      });
      const cursor = { bin, position: cursorPosition, lowerDistE6 };
      return { lowestBin, highestBin, scale, pauseLevel: 0, cursor, spreadFeeE6, notionalFeeE8, bins };
    });
}

/**
 * Quotes around prices from 2^-maxBits to 2^maxBits, from no spread to a fifth, with the reference anywhere between.
 */
export function quoteUpTo(maxBits: number): fc.Arbitrary<ProviderQuote> {
  return fc
    .record({
      bits: fc.integer({ min: 64 - maxBits, max: 64 + maxBits }),
      fraction: fc.bigInt(0n, Q64),
      halfSpreadE9: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 100_000_000 }),
      ),
      partE6: fc.bigInt(0n, 1_000_000n),
    })
    .map(({ bits, fraction, halfSpreadE9, partE6 }) => {
      const price = (1n << BigInt(bits)) + ((fraction << BigInt(bits)) >> 64n);
      const half = (price * BigInt(halfSpreadE9)) / 1_000_000_000n;
      return {
        bidX64: price - half,
        askX64: price + half,
        referenceX64: price - half + (2n * half * partE6) / 1_000_000n,
      };
    });
}

/** A pool that could be on a chain, with a quote that it trades on. */
export const pricedPool: fc.Arbitrary<PricedPool> = fc
  .tuple(
    immutables.chain((pool) => poolStateOf(pool)),
    quoteUpTo(30),
  )
  .map(([state, quote]) => pricePool(state, quote));
