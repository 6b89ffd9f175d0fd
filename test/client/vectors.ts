import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { estimateFill, type QuoteLevel } from '../route/spec-walk.ts';
import type { PriceWalk } from './price-walk.ts';

/** What `client/vectors/schema.json` describes. */
export interface Vectors {
  readonly sides: readonly VectorSide[];
  readonly fills: readonly VectorFill[];
  readonly prices: readonly VectorPrice[];
  /** What not to do. */
  readonly priceWalks: readonly PriceWalk[];
}

export interface VectorSide {
  readonly name: string;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
  readonly levels: readonly Pick<QuoteLevel, 'cumulativeVolume' | 'cumulativeInputVolume'>[];
  readonly maxIn: string;
  readonly maxOut: string;
}

export interface VectorFill {
  readonly side: number;
  readonly exact: 'in' | 'out';
  readonly amount: string;
  readonly result: string | null;
}

export interface VectorPrice {
  readonly amountIn: string;
  readonly amountOut: string;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
  readonly floorX64: string;
  readonly ceilX64: string;
  readonly decimal: string;
}

export type RawSide = Pick<VectorSide, 'name' | 'decimalsIn' | 'decimalsOut' | 'levels'>;

const CASES = 2_000;
/** Those on pools of the devnet, which are executed. */
export const DEVNET_CASES = 200;
const PRICES = 200;
const SEED = 29;
const DECIMALS = [6, 8, 18] as const;
const MAX = 2n ** 127n;

/** @param devnet sides of pools of the devnet; their cases come first */
export function makeVectors(devnet: readonly RawSide[], priceWalks: readonly PriceWalk[]): Vectors {
  const random = seededRandom(SEED);
  const made = [...edges(), ...Array.from({ length: 120 }, (_, index) => randomSide(random, index))];
  const sides = [...devnet, ...made].map(withLimits);
  const ofDevnet = spread(sides.slice(0, devnet.length), 0, DEVNET_CASES, random);
  const others = spread(sides.slice(devnet.length), devnet.length, CASES - DEVNET_CASES - PRICES, random);
  const fills = [...ofDevnet, ...others];
  return { sides, fills, prices: fills.flatMap(priceOf).slice(-PRICES), priceWalks };

  function priceOf({ side, exact, amount, result }: VectorFill): VectorPrice[] {
    const { decimalsIn = 0, decimalsOut = 0 } = sides[side] ?? {};
    const [amountIn, amountOut] = exact === 'in' ? [amount, result] : [result, amount];
    if (amountIn === null || amountOut === null || BigInt(amountIn) === 0n) return [];
    return [
      { amountIn, amountOut, decimalsIn, decimalsOut, ...priceParts(amountIn, amountOut, decimalsIn, decimalsOut) },
    ];
  }
}

/** The average price as Q64.64, and the decimal form of its floor: long division, digit by digit. */
function priceParts(amountIn: string, amountOut: string, decimalsIn: number, decimalsOut: number) {
  const [numerator, input] = [BigInt(amountOut) << 64n, BigInt(amountIn)];
  const floorX64 = numerator / input;
  const ceilX64 = numerator % input === 0n ? floorX64 : floorX64 + 1n;
  const divisor = 2n ** 64n * 10n ** BigInt(decimalsOut);
  let rest = floorX64 * 10n ** BigInt(decimalsIn);
  let decimal = String(rest / divisor);
  if (rest % divisor > 0n) decimal += '.';
  for (rest %= divisor; rest > 0n; rest %= divisor) {
    rest *= 10n;
    decimal += String(rest / divisor);
  }
  return { floorX64: String(floorX64), ceilX64: String(ceilX64), decimal };
}

/** As many cases as asked for, evenly over the sides: edges first, then random amounts. */
function spread(sides: readonly VectorSide[], first: number, count: number, random: Random): VectorFill[] {
  const perSide = sides.map((side, index) => casesOf(side, first + index, Math.ceil(count / sides.length) + 1, random));
  const fills: VectorFill[] = [];
  for (let round = 0; fills.length < count; round++) {
    for (const cases of perSide) {
      const next = cases[round];
      if (next && fills.length < count) fills.push(next);
    }
  }
  return fills;
}

function casesOf(side: VectorSide, index: number, count: number, random: Random): VectorFill[] {
  const edge = (exact: 'in' | 'out', max: bigint): [typeof exact, bigint][] => [
    [exact, max],
    [exact, 1n],
    [exact, max + 1n],
    [exact, max - 1n],
    [exact, 0n],
  ];
  const amounts = interleave(edge('in', BigInt(side.maxIn)), edge('out', BigInt(side.maxOut)));
  for (const level of side.levels.slice(0, 2)) {
    amounts.push(['in', BigInt(level.cumulativeInputVolume) + 1n], ['out', BigInt(level.cumulativeVolume)]);
  }
  while (amounts.length < count + 20) {
    amounts.push(['in', below(random, BigInt(side.maxIn))], ['out', below(random, BigInt(side.maxOut))]);
  }
  const seen = new Set<string>();
  return amounts
    .filter(([exact, amount]) => amount >= 0n && !seen.has(`${exact}${amount}`) && seen.add(`${exact}${amount}`))
    .map(([exact, amount]) => ({ side: index, exact, amount: String(amount), result: resultOf(side, exact, amount) }));
}

const interleave = <T>(one: readonly T[], other: readonly T[]): T[] =>
  one.flatMap((each, index) => [each, other[index] as T]);

export function resultOf({ levels }: Pick<RawSide, 'levels'>, exact: 'in' | 'out', amount: bigint): string | null {
  const fill = estimateFill(levels, exact === 'in' ? 'input' : 'output', amount);
  if (!fill) return null;
  return String(exact === 'in' ? fill.output : fill.input);
}

/** The largest amounts that fill, found by trying alone. */
function withLimits(side: RawSide): VectorSide {
  const limit = (exact: 'in' | 'out') => {
    let [fills, fails] = [0n, 4n * MAX];
    while (fails - fills > 1n) {
      const middle = (fills + fails) / 2n;
      if (resultOf(side, exact, middle) === null) fails = middle;
      else fills = middle;
    }
    return String(fills);
  };
  return { ...side, maxIn: limit('in'), maxOut: limit('out') };
}

const levelsOf = (...pairs: readonly (readonly [input: bigint, output: bigint])[]) =>
  pairs.map(([input, output]) => ({ cumulativeInputVolume: String(input), cumulativeVolume: String(output) }));

/** Sides that the contract has a rule for. */
function edges(): RawSide[] {
  const side = (name: string, levels: RawSide['levels']): RawSide => ({ name, decimalsIn: 18, decimalsOut: 6, levels });
  return [
    side('closed side', []),
    side('pool without liquidity', levelsOf([0n, 0n], [0n, 0n])),
    side('one unit for one unit', levelsOf([1n, 1n])),
    side('input that buys nothing is skipped', levelsOf([5n, 0n], [100n, 50n], [101n, 50n], [301n, 149n])),
    side('repeated totals', levelsOf([100n, 50n], [100n, 50n], [300n, 149n], [300n, 149n])),
    side('input that falls back', levelsOf([100n, 50n], [90n, 60n], [300n, 149n])),
    side('a second level with a better price', levelsOf([1_000n, 10n], [1_010n, 900n])),
    side('many units of input for one of output', levelsOf([10n ** 12n, 1n], [3n * 10n ** 12n, 2n])),
    side('many units of output for one of input', levelsOf([1n, 10n ** 12n], [2n, 3n * 10n ** 12n])),
    side('2^127', levelsOf([MAX / 2n, MAX / 3n], [MAX, MAX - 1n])),
    side(
      'a partial last level',
      levelsOf([10n ** 18n, 3_000n * 10n ** 6n], [10n ** 18n + 46n, 3_000n * 10n ** 6n + 1n]),
    ),
  ];
}

function randomSide(random: Random, index: number): RawSide {
  const [decimalsIn, decimalsOut] = [random.pick(DECIMALS), random.pick(DECIMALS)];
  let [input, output] = [0n, 0n];
  const count = random.integer(1, 8);
  const pairs = Array.from({ length: count }, () => {
    if (random.chance(85)) {
      input += below(random, 10n ** BigInt(decimalsIn + random.integer(0, 4)));
      output += below(random, 10n ** BigInt(decimalsOut + random.integer(0, 4)));
    }
    return [input, output] as const;
  });
  return { name: `random ${index}`, decimalsIn, decimalsOut, levels: levelsOf(...pairs) };
}

/** 0 to max, both included. */
export function below(random: Random, max: bigint): bigint {
  let bits = 0n;
  for (let part = 0; part < 6; part++) bits = (bits << 32n) | BigInt(random.integer(0, 2 ** 32 - 1));
  return bits % (max + 1n);
}
