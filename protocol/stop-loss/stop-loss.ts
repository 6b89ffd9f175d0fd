import { divCeil, E6, isqrtFloor, Q64 } from '../fixed-point.ts';
import { type BinBalances, type BinTest, exactTest, type JudgedValue } from './rounding.ts';

/** Marks that a deployed stop loss may use, see {@link StopLossMark}. */
export const STOP_LOSS_MARKS = ['mid', 'mean', 'bidAsk'] as const;

/**
 * The price at which a stop loss values a bin, by the deployed extension: `mid` is the geometric mean of bid and ask,
 * `mean` the arithmetic one; `bidAsk` takes the bid for values in token0 and the ask for values in token1.
 */
export type StopLossMark = (typeof STOP_LOSS_MARKS)[number];

/** Prices at which token0 is valued, Q64.64: for a bin's value in token0, and for its value in token1. */
export interface MarkPrices {
  readonly in0: bigint;
  readonly in1: bigint;
}

/** The prices at which a stop loss with this mark values bins. @param quote the provider's, Q64.64 */
export function markPrices(
  mark: StopLossMark,
  { bidX64, askX64 }: { readonly bidX64: bigint; readonly askX64: bigint },
): MarkPrices {
  if (mark === 'bidAsk') return { in0: bidX64, in1: askX64 };
  const middle = mark === 'mid' ? isqrtFloor(bidX64 * askX64) : (bidX64 + askX64) / 2n;
  return { in0: middle, in1: middle };
}

/** What a stop loss stores of a bin: the highest values per share that it saw, in metric units. */
export interface Watermarks {
  readonly token0: bigint;
  readonly token1: bigint;
  /** Unix seconds. */
  readonly updatedAt: bigint;
}

/** A bin with liquidity as a stop loss sees it. */
export interface WatchedBin {
  /** More than zero: a bin without shares is not watched. */
  readonly shares: bigint;
  readonly watermarks: Watermarks;
}

/**
 * How a release rounds. It divides either `balances` by shares before it converts them, or the `value` afterwards. It
 * rounds `down` what decay leaves of a watermark, or `up` because it rounds down what decay takes.
 */
export interface StopLossRounding {
  readonly divides: 'balances' | 'value';
  readonly decayed: 'down' | 'up';
}

/** Roundings that a deployed stop loss may have. */
export const STOP_LOSS_ROUNDINGS: readonly StopLossRounding[] = [
  { divides: 'value', decayed: 'down' },
  { divides: 'value', decayed: 'up' },
  { divides: 'balances', decayed: 'down' },
  { divides: 'balances', decayed: 'up' },
];

/** A stop loss of one pool at one block. */
export interface StopLossState {
  /** How far, in millionths, a bin may fall below its watermark before swaps are refused; 0 switches it off. */
  readonly drawdownE6: number;
  /** Part of a watermark that is lost per second, in units of 1 / `decayScale`. */
  readonly decayPerSecond: bigint;
  readonly decayScale: bigint;
  /** Time of the block, Unix seconds. */
  readonly timestamp: bigint;
  readonly bins: ReadonlyMap<number, WatchedBin>;
  /** Undefined where it is not known: what any rounding may refuse counts as refused. */
  readonly rounding?: StopLossRounding | undefined;
}

/** Metric units per scaled unit and share, in the releases of the extension. */
export const METRIC_SCALES = { current: 10n ** 18n, older: 10n ** 6n };
/** A watermark that is this many times smaller than the bin's present value counts in the older, coarser unit. */
const COARSER = 10n ** 6n;

/** A watermark after its decay, rounded down. */
function decayedFloor(state: StopLossState, mark: bigint, updatedAt: bigint): bigint {
  const lost = state.decayPerSecond * (state.timestamp - updatedAt);
  return lost >= state.decayScale ? 0n : (mark * (state.decayScale - lost)) / state.decayScale;
}

/** A watermark after its decay, rounded up: releases of the extension differ in the last unit. */
export function decayedCeil(state: StopLossState, mark: bigint, updatedAt: bigint): bigint {
  const lost = state.decayPerSecond * (state.timestamp - updatedAt);
  return lost >= state.decayScale ? 0n : mark - (mark * lost) / state.decayScale;
}

/** What swaps of one direction are judged by. */
export interface JudgedDirection {
  readonly zeroForOne: boolean;
  readonly marks: MarkPrices;
  /** Before the swap. */
  readonly balancesOf: (bin: number) => BinBalances;
}

/** Gives the test of each watched bin; undefined for a bin that is not watched. */
export function binTests(state: StopLossState, direction: JudgedDirection): (bin: number) => BinTest | undefined {
  const metricScale = metricScaleOf(state, direction);
  return (bin) => {
    const watched = state.bins.get(bin);
    return watched && binTest(state, watched, direction, metricScale);
  };
}

function binTest(
  state: StopLossState,
  { shares, watermarks }: WatchedBin,
  { zeroForOne, marks }: JudgedDirection,
  metricScale: bigint,
): BinTest {
  const { rounding } = state;
  const markX64 = zeroForOne ? marks.in0 : marks.in1;
  const stored = zeroForOne ? watermarks.token0 : watermarks.token1;
  const decayed = rounding?.decayed === 'down' ? decayedFloor : decayedCeil;
  const threshold = (decayed(state, stored, watermarks.updatedAt) * (E6 - BigInt(state.drawdownE6))) / E6;
  const value = { zeroForOne, markX64, metricScale, shares, threshold };
  const any = testOfAny(value);
  return rounding ? exactTest(value, rounding.divides, any) : any;
}

/** The test for an unknown rounding: accepts and refuses what all do, with a band of a few units between the two. */
function testOfAny({ zeroForOne, markX64, metricScale, shares, threshold }: JudgedValue): BinTest {
  // The value in token1 is `valuation` / 2^64, the value in token0 is `valuation` / mark:
  // both sides are multiplied out.
  const unit = zeroForOne ? markX64 : Q64;
  const valuation = ({ token0, token1 }: BinBalances) => token0 * markX64 + token1 * Q64;
  const converted = zeroForOne ? divCeil(Q64, markX64) : divCeil(markX64, Q64);
  const roundedOff = divCeil(metricScale, shares) + converted + 3n;
  const accepted = (threshold + roundedOff) * shares * unit;
  const refused = (threshold - 2n) * shares * unit;
  const accepts = (balances: BinBalances, slack: bigint) =>
    (valuation(balances) - slack * unit) * metricScale >= accepted;
  return {
    passes: (balances) => accepts(balances, 0n),
    accepts,
    refuses: (balances) => valuation(balances) * metricScale < refused,
    leastOutput: null,
  };
}

/** The unit of the watermarks, found by comparing them with the present values of the bins. */
function metricScaleOf(state: StopLossState, { balancesOf, marks }: JudgedDirection): bigint {
  const isCoarse = [...state.bins].some(([bin, { shares, watermarks }]) => {
    const { token0, token1 } = balancesOf(bin);
    const value0 = token0 + (token1 * Q64) / marks.in0;
    const value1 = token1 + (token0 * marks.in1) / Q64;
    const isCoarseFor = (value: bigint, watermark: bigint) =>
      watermark > 0n && (value * METRIC_SCALES.current) / shares > watermark * COARSER;
    return isCoarseFor(value0, watermarks.token0) || isCoarseFor(value1, watermarks.token1);
  });
  return isCoarse ? METRIC_SCALES.older : METRIC_SCALES.current;
}
