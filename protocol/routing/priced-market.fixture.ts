import fc from 'fast-check';
import type { Address } from 'viem';
import { mulDivFloor, Q64 } from '../fixed-point.ts';
import { pricePool, sideCurve } from '../layouts/flat/geometry.ts';
import type { PricedPool } from '../layouts/ladder.ts';
import type { SideCurve } from '../layouts/side-curve.ts';
import { type BinState, MAX_POSITION } from '../pool-state.ts';
import { tokenScale } from '../scaling.ts';
import type { TradeType } from './fill-curve.ts';
import type { TokenPath } from './graph.ts';
import { type Hop, makeHop } from './routes.ts';

/**
 * Arbitraries of one-hop markets whose pools have real bins, so that plans can be compared with the pools' own swaps.
 */

/** A pool in the direction of the market's order. */
export interface MarketPool {
  readonly address: Address;
  readonly token0: { readonly address: Address };
  readonly token1: { readonly address: Address };
  readonly side: SideCurve;
}

export interface OneHopMarket {
  readonly first: readonly MarketPool[];
  readonly second: readonly MarketPool[];
  /** Raw units of the fixed amount: some tens to thousands of dollars. */
  readonly given: bigint;
  readonly tradeType: TradeType;
}

const LOWEST = -3;
const HIGHEST = 3;
const BINS = HIGHEST - LOWEST + 1;
/** Scaled units of a whole token: no token of these markets has more than 18 decimals. */
const WHOLE = 10n ** 18n;

interface Token {
  readonly address: Address;
  readonly decimals: number;
  /** Dollars of a whole token. */
  readonly usd: bigint;
}

const token = (tail: string): fc.Arbitrary<Token> =>
  fc.record({
    address: fc.constant(addressOf(tail)),
    decimals: fc.constantFrom(6, 8, 18),
    usd: fc.constantFrom(1n, 3_000n, 60_000n),
  });

const fee = fc.integer({ min: 0, max: 3_000 });
const perBin = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: BINS, maxLength: BINS });

const shape = fc.record({
  bins: perBin(
    fc.record({
      lengthE6: fc.oneof(fc.integer({ min: 10, max: 500 }), fc.integer({ min: 500, max: 20_000 })),
      addFeeBuyE6: fee,
      addFeeSellE6: fee,
      /** What the bin holds. */
      usd: fc.bigInt(1n, 1_000n),
    }),
  ),
  bin: fc.integer({ min: LOWEST + 1, max: HIGHEST - 1 }),
  position: fc.bigInt(1n, MAX_POSITION - 1n),
  lowerDistE6: fc.integer({ min: -10_000, max: 0 }),
  notionalFeeE8: fc.constantFrom(0, 5_000, 100_000, 1_000_000),
  priceE6: fc.bigInt(990_000n, 1_010_000n),
  zeroForOne: fc.boolean(),
});

/** A pool that is sold `from` for `to`. */
function poolBetween(from: Token, to: Token, name: string): fc.Arbitrary<MarketPool> {
  return shape.map(({ bins, bin, position, lowerDistE6, notionalFeeE8, priceE6, zeroForOne }) => {
    const [token0, token1] = zeroForOne ? [from, to] : [to, from];
    const priceX64 = mulDivFloor(Q64 * token0.usd, priceE6, token1.usd * 1_000_000n);
    const contents = bins.map(({ usd, ...rest }, index): BinState => {
      const [has0, has1] = [LOWEST + index >= bin, LOWEST + index <= bin];
      const holds = ({ usd: tokenValue }: Token) => (usd * WHOLE) / tokenValue;
      return { ...rest, token0Scaled: has0 ? holds(token0) : 0n, token1Scaled: has1 ? holds(token1) : 0n };
    });
    const state = {
      lowestBin: LOWEST,
      highestBin: HIGHEST,
      scale: tokenScale(token0.decimals, token1.decimals),
      pauseLevel: 0,
      cursor: { bin, position, lowerDistE6 },
      spreadFeeE6: 0,
      notionalFeeE8,
      bins: contents,
    };
    const half = priceX64 / 10_000n + 1n;
    const priced: PricedPool = pricePool(state, { bidX64: priceX64 - half, askX64: priceX64 + half });
    return { address: addressOf(name), token0, token1, side: sideCurve(priced, zeroForOne) };
  });
}

const addressOf = (tail: string): Address => `0x${tail.padStart(40, '0')}`;

/** One or two pools on each leg, and an order of this type. */
export function oneHopMarket(tradeType: TradeType): fc.Arbitrary<OneHopMarket> {
  return fc.tuple(token('a1'), token('b2'), token('c3')).chain(([start, middle, end]) => {
    const { decimals, usd: tokenValue } = tradeType === 'exact_in' ? start : end;
    return fc.record({
      first: poolsBetween(start, middle, 1),
      second: poolsBetween(middle, end, 3),
      tradeType: fc.constant(tradeType),
      given: fc.bigInt(10n, 3_000n).map((usd) => (usd * 10n ** BigInt(decimals)) / tokenValue),
    });
  });
}

function poolsBetween(from: Token, to: Token, number: number): fc.Arbitrary<readonly MarketPool[]> {
  const one = poolBetween(from, to, String(number));
  const two = poolBetween(from, to, String(number + 1));
  return fc.oneof(
    one.map((pool) => [pool]),
    fc.tuple(one, two),
  );
}

/** The market's path as a search takes it: near leg first. */
export function tokenPathOf({ first, second, tradeType }: OneHopMarket): TokenPath<Hop<MarketPool>> {
  const hops = (pools: readonly MarketPool[]) =>
    pools.map((pool) => makeHop(pool, pool.side.zeroForOne, pool.side.levels, tradeType));
  const legs = [hops(first), hops(second)] as const;
  return { legs: tradeType === 'exact_in' ? legs : [legs[1], legs[0]] };
}
