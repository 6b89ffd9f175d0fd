import fc from 'fast-check';
import type { Address } from 'viem';
import type { DepthLevel } from '../depth.ts';
import { mulDivCeil } from '../fixed-point.ts';
import type { TradeType } from './fill-curve.ts';
import { type GraphPool, PoolGraph, type TokenPath, tokenPaths } from './graph.ts';
import { type Hop, type HopPath, makeHop } from './routes.ts';

/** Arbitraries for property tests of routing: sides of depth, and small markets around one pair of tokens. */

export interface TestPool extends GraphPool {
  /** Depth of the one direction that the market's order goes. */
  readonly side: readonly DepthLevel[];
}

export const TOKEN_IN: Address = '0x00000000000000000000000000000000000000a1';
export const TOKEN_OUT: Address = '0x00000000000000000000000000000000000000b2';
export const MIDDLE: readonly Address[] = [
  '0x00000000000000000000000000000000000000c3',
  '0x00000000000000000000000000000000000000d4',
];

/** The result of a computation in steps. */
export function finish<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Levels as the depth rules allow them, whatever their prices: repeated, without output, tiny or huge. */
export const anySide: fc.Arbitrary<readonly DepthLevel[]> = fc
  .array(fc.tuple(amount(), amount()), { maxLength: 12 })
  .map((bins) => sumLevels(bins.map(([input, output]) => ({ input, output }))));

function amount(): fc.Arbitrary<bigint> {
  return fc.oneof(fc.constant(0n), fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 24n));
}

interface BinAmounts {
  readonly input: bigint;
  readonly output: bigint;
}

function sumLevels(bins: readonly BinAmounts[]): readonly DepthLevel[] {
  let cumulativeInput = 0n;
  let cumulativeOutput = 0n;
  return bins.map(({ input, output }, bin) => {
    cumulativeInput += input;
    cumulativeOutput += output;
    return { bin, priceX64: 0n, cumulativeInput, cumulativeOutput, priceImpactE6: BigInt(bin + 1) * 2_500n };
  });
}

/** Price of whole tokens and size of a token, so that markets mix tokens of 6 and of 18 decimals. */
export interface Scale {
  readonly unit: bigint;
  /** Worth of a whole token, in thousandths. */
  readonly tokenValue: bigint;
}

export const scale: fc.Arbitrary<Scale> = fc.record({
  unit: fc.constantFrom(10n ** 6n, 10n ** 8n, 10n ** 18n),
  tokenValue: fc.bigInt(300n, 4_000n),
});

/** A bin: whole tokens of input in hundredths, price drop from the bin before and own fee in millionths. */
const bin = fc.record({
  size: fc.bigInt(20n, 3_000n),
  dropE6: fc.bigInt(100n, 40_000n),
  feeE6: fc.oneof({ weight: 5, arbitrary: fc.constant(300n) }, { weight: 1, arbitrary: fc.bigInt(300n, 20_000n) }),
});

/** A side of falling prices around the fair one, but for fees that differ by bin. */
export function pricedSide(from: Scale, to: Scale): fc.Arbitrary<readonly DepthLevel[]> {
  const bins = fc.array(bin, { minLength: 1, maxLength: 7 });
  return fc.tuple(fc.bigInt(990_000n, 1_010_000n), bins).map(([startE6, list]) => {
    let priceE6 = startE6;
    return sumLevels(
      list.map(({ size, dropE6, feeE6 }) => {
        priceE6 = (priceE6 * (1_000_000n - dropE6)) / 1_000_000n;
        const output = (size * to.unit * from.tokenValue) / (100n * to.tokenValue);
        const received = (output * priceE6 * (1_000_000n - feeE6)) / 10n ** 12n;
        return { input: mulDivCeil(size, from.unit, 100n), output: received };
      }),
    );
  });
}

/** A market around one pair: direct pools and pools over two more tokens, at most nine in all. */
export interface Market {
  readonly pools: readonly TestPool[];
  readonly scaleIn: Scale;
  readonly scaleOut: Scale;
}

export const market: fc.Arbitrary<Market> = fc
  .record({ scaleIn: scale, scaleOut: scale, middle: fc.array(scale, { maxLength: 2 }) })
  .chain(({ scaleIn, scaleOut, middle }) => {
    const [given, received] = [
      { address: TOKEN_IN, scale: scaleIn },
      { address: TOKEN_OUT, scale: scaleOut },
    ] as const;
    const joins = [sidesBetween(given, received, 3)];
    for (const [index, scaleMiddle] of middle.entries()) {
      const between = { address: MIDDLE[index] ?? TOKEN_IN, scale: scaleMiddle };
      joins.push(sidesBetween(given, between, 2), sidesBetween(between, received, 2));
    }
    return fc.tuple(...joins).map((groups) => ({ pools: groups.flat().map(withAddress), scaleIn, scaleOut }));
  });

type Unnamed = Omit<TestPool, 'address'>;

interface ScaledToken {
  readonly address: Address;
  readonly scale: Scale;
}

function sidesBetween(token0: ScaledToken, token1: ScaledToken, maxLength: number): fc.Arbitrary<Unnamed[]> {
  const sides = fc.array(pricedSide(token0.scale, token1.scale), { maxLength });
  return sides.map((list) => list.map((side) => ({ token0, token1, side })));
}

const withAddress = (pool: Unnamed, index: number): TestPool => ({
  ...pool,
  address: `0x${(index + 1).toString(16).padStart(40, '0')}`,
});

/** An order of 1 to 60 whole tokens of the fixed amount. */
export function orderIn(scaleOfGiven: Scale): fc.Arbitrary<bigint> {
  return fc.bigInt(scaleOfGiven.unit, 60n * scaleOfGiven.unit);
}

/** The market's paths as a search takes them: hops, near leg first. */
export function hopPaths(pools: readonly TestPool[], tradeType: TradeType): readonly TokenPath<Hop<TestPool>>[] {
  const hops = new Map(pools.map((pool) => [pool, makeHop(pool, true, pool.side, tradeType)]));
  const hopOf = (pool: TestPool) => hops.get(pool) ?? makeHop(pool, true, pool.side, tradeType);
  return [...tokenPaths(new PoolGraph(pools), TOKEN_IN, TOKEN_OUT)].map(({ legs: [first, second] }) => {
    if (!second) return { legs: [first.map(hopOf)] };
    const [near, far] = tradeType === 'exact_in' ? [first, second] : [second, first];
    return { legs: [near.map(hopOf), far.map(hopOf)] };
  });
}

export function pathsOf(list: readonly TokenPath<Hop<TestPool>>[]): readonly HopPath<TestPool>[] {
  return list.flatMap(({ legs: [near, far] }) =>
    near.flatMap((hop): HopPath<TestPool>[] =>
      far ? far.map((other) => ({ near: hop, far: other })) : [{ near: hop, far: null }],
    ),
  );
}
