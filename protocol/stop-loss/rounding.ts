import { divCeil, Q64 } from '../fixed-point.ts';

/** Balances of a bin, scaled. */
export interface BinBalances {
  readonly token0: bigint;
  readonly token1: bigint;
}

/**
 * How a stop loss tests one bin in one direction. It judges sales of token0 (zeroForOne) by the value in token0,
 * purchases by the value in token1. Where the release's rounding is unknown, the test says what every rounding accepts
 * and what every rounding refuses.
 */
export interface BinTest {
  /** Whether the bin is accepted with these balances. */
  passes(balances: BinBalances): boolean;
  /**
   * Whether the bin passes with these balances and with all from which its value falls to these. Roundings make the
   * value fall unevenly: `slack` input tokens (scaled) are taken off first, so that it passes however they come out.
   */
  accepts(balances: BinBalances, slack: bigint): boolean;
  /** Whether the bin is surely refused with these balances. */
  refuses(balances: BinBalances): boolean;
  /**
   * The least balance of the output token, scaled, with which a bin passes that has at least this balance of the input
   * token. Null where the value does not fall in known steps: `accepts` alone decides then.
   */
  readonly leastOutput: ((input: bigint) => bigint) | null;
}

/** What a bin is judged by. */
export interface JudgedValue {
  readonly zeroForOne: boolean;
  /** The price at which the output token is converted into the input token, token1 per token0, Q64.64. */
  readonly markX64: bigint;
  /** Metric units per scaled unit and share. */
  readonly metricScale: bigint;
  readonly shares: bigint;
  /** Metric units: less than this is refused. */
  readonly threshold: bigint;
}

/** Makes the test of a release whose rounding is known, exact to the unit. @param any the test for unknown roundings */
export function exactTest(value: JudgedValue, divides: 'balances' | 'value', any: BinTest): BinTest {
  const { zeroForOne, markX64, metricScale, shares, threshold } = value;
  const [from, to] = zeroForOne ? [Q64, markX64] : [markX64, Q64];
  const perShare = (amount: bigint) => (amount * metricScale) / shares;
  const convert = (amount: bigint) => (amount * from) / to;
  const sorted = ({ token0, token1 }: BinBalances) => (zeroForOne ? [token0, token1] : [token1, token0]) as Pair;
  if (divides === 'value') {
    const isEnough = ([input, output]: Pair, slack: bigint) => perShare(input - slack + convert(output)) >= threshold;
    const accepts = (balances: BinBalances, slack: bigint) => isEnough(sorted(balances), slack);
    const passes = (balances: BinBalances) => accepts(balances, 0n);
    return { passes, accepts, refuses: (balances) => !passes(balances), leastOutput: null };
  }
  const passes = (balances: BinBalances) => {
    const [input, output] = sorted(balances);
    return perShare(input) + convert(perShare(output)) >= threshold;
  };
  return {
    passes,
    accepts: any.accepts,
    refuses: (balances) => !passes(balances),
    leastOutput(input) {
      const missing = threshold - perShare(input);
      return missing <= 0n ? 0n : divCeil(divCeil(missing * to, from) * shares, metricScale);
    },
  };
}

type Pair = readonly [input: bigint, output: bigint];
