import fc from 'fast-check';
import { encodeErrorResult, parseAbi } from 'viem';
import { computeSwap } from '../../../test/protocol/flat-swap.ts';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { BidAsk } from '../../curve.ts';
import { isqrtFloor, Q64 } from '../../fixed-point.ts';
import { type BinState, binAt, MAX_POSITION, type PoolState } from '../../pool-state.ts';
import { tokenScale } from '../../scaling.ts';
import type { StopLossMark, StopLossState, WatchedBin } from '../../stop-loss/stop-loss.ts';
import type { PricedPool } from '../ladder.ts';
import { pricePool } from './geometry.ts';

/*
 * Flat pools with a stop loss as the contracts judge them: `devnet/contracts/extensions/StopLossBase.sol`, with the
 * metrics of `StopLoss.sol` (values, then divided by shares) or of `StopLossAtBidAsk.sol` (divided by shares, then
 * converted), in either unit. Nothing here is shared with what the service computes of a stop loss.
 */

const E6 = 10n ** 6n;
const E8 = 10n ** 8n;
const E18 = 10n ** 18n;
const NOW = 1_000_000n;

const ERRORS = parseAbi([
  'error SimulateSwap(int256 amount0Delta, int256 amount1Delta)',
  'error OracleStopLossTriggered(int8 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold)',
]);

type Pair = readonly [token0: bigint, token1: bigint];

/** How one deployed stop loss counts. */
export interface Release {
  readonly mark: StopLossMark;
  readonly metricScale: bigint;
  readonly isDividedFirst: boolean;
  /** Whether what decay leaves is rounded down, or what it takes. */
  readonly keepsFloor: boolean;
}

export interface ModelPool {
  readonly priced: PricedPool;
  readonly release: Release;
  readonly stopLoss: StopLossState;
}

function metrics([token0, token1]: Pair, shares: bigint, { bidX64, askX64 }: BidAsk, release: Release): Pair {
  const middle = release.mark === 'mean' ? (bidX64 + askX64) / 2n : isqrtFloor(bidX64 * askX64);
  const [in0, in1] = release.mark === 'bidAsk' ? [bidX64, askX64] : [middle, middle];
  const perShare = (amount: bigint) => (amount * release.metricScale) / shares;
  if (release.isDividedFirst) {
    const [per0, per1] = [perShare(token0), perShare(token1)];
    return [per0 + (per1 * Q64) / in0, (per0 * in1) / Q64 + per1];
  }
  return [perShare(token0 + (token1 * Q64) / in0), perShare(token1 + (token0 * in1) / Q64)];
}

function decayed(mark: bigint, lost: bigint, { keepsFloor }: Release): bigint {
  if (lost >= E8) return 0n;
  return keepsFloor ? (mark * (E8 - lost)) / E8 : mark - (mark * lost) / E8;
}

/** What the pool answers to a simulated swap, raw units: positive = exact input, negative = exact output. */
export function simulateOnModel(
  { priced, release, stopLoss }: ModelPool,
  zeroForOne: boolean,
  amount: bigint,
): CallResult {
  const { state, quote } = priced;
  const kind = amount > 0n ? 'exactInput' : 'exactOutput';
  const swap = computeSwap(priced, { zeroForOne, kind, amount: amount > 0n ? amount : -amount });
  const [first, last] = [Math.min(state.cursor.bin, swap.bin), Math.max(state.cursor.bin, swap.bin)];
  for (const [bin, { shares, watermarks }] of stopLoss.bins) {
    if (bin < first || bin > last) continue;
    const fill = swap.fills.find((each) => each.bin === bin) ?? { input: 0n, net: 0n, output: 0n };
    const fee = fill.input - fill.net;
    const added = fill.input - (fee * BigInt(state.spreadFeeE6)) / E6;
    const { token0Scaled, token1Scaled } = binAt(state, bin);
    const balances: Pair = zeroForOne
      ? [token0Scaled + added, token1Scaled - fill.output]
      : [token0Scaled - fill.output, token1Scaled + added];
    const lost = stopLoss.decayPerSecond * (stopLoss.timestamp - watermarks.updatedAt);
    const high = decayed(zeroForOne ? watermarks.token0 : watermarks.token1, lost, release);
    const threshold = (high * (E6 - BigInt(stopLoss.drawdownE6))) / E6;
    const metric = metrics(balances, shares, quote, release)[zeroForOne ? 0 : 1];
    if (metric >= threshold) continue;
    const args = [bin, zeroForOne, metric, threshold] as const;
    return { success: false, data: encodeErrorResult({ abi: ERRORS, errorName: 'OracleStopLossTriggered', args }) };
  }
  const args = zeroForOne ? ([swap.amountIn, -swap.amountOut] as const) : ([-swap.amountOut, swap.amountIn] as const);
  return { success: false, data: encodeErrorResult({ abi: ERRORS, errorName: 'SimulateSwap', args }) };
}

/** Whole powers of ten and what lies between, evenly by magnitude. */
const magnitude = (min: number, max: number) =>
  fc
    .tuple(fc.integer({ min, max: max - 1 }), fc.integer({ min: 1_000, max: 10_000 }))
    .map(([exponent, thousandths]) => (BigInt(thousandths) * 10n ** BigInt(exponent + 30)) / 1_000n);
/** By which {@link magnitude} is scaled. */
const E30 = 10n ** 30n;

const decimals = fc.constantFrom(6, 8, 18);
const within2Percent = fc.integer({ min: -20_000, max: 20_000 });
const release: fc.Arbitrary<Release> = fc.record({
  mark: fc.constantFrom<StopLossMark>('mean', 'mid', 'bidAsk'),
  metricScale: fc.constantFrom(E6, E18),
  isDividedFirst: fc.boolean(),
  keepsFloor: fc.boolean(),
});

/** Prices 10^-6 to 10^6, values per share of 10 to 10^24 metric units, and marks within 2% of what bins are worth. */
export const modelPool: fc.Arbitrary<ModelPool> = fc
  .record({
    release,
    price: magnitude(-6, 6),
    halfSpreadE6: fc.integer({ min: 1, max: 3_000 }),
    scale: fc.tuple(decimals, decimals).map(([decimals0, decimals1]) => tokenScale(decimals0, decimals1)),
    below: fc.integer({ min: 0, max: 2 }),
    above: fc.integer({ min: 0, max: 2 }),
    lengthE6: fc.integer({ min: 50, max: 5_000 }),
    addFeeE6: fc.integer({ min: 0, max: 500 }),
    spreadFeeE6: fc.constantFrom(0, 100_000, 500_000, 1_000_000),
    notionalFeeE8: fc.constantFrom(0, 3_000),
    positionE6: fc.bigInt(0n, E6 - 1n),
    isIn0: fc.boolean(),
    perShare: magnitude(1, 24),
    worth0: magnitude(-1, 7),
    drawdownE6: fc.integer({ min: 1, max: 20_000 }),
    decayE8: fc.constantFrom(0n, 0n, 3n),
    bins: fc.array(
      fc.record({ jitterE6: within2Percent, marksE6: fc.tuple(within2Percent, within2Percent), age: fc.nat(30_000) }),
      { minLength: 5, maxLength: 5 },
    ),
  })
  .map((drawn) => {
    const { price, halfSpreadE6, below, above, positionE6 } = drawn;
    const priceX64 = (price * Q64) / E30;
    const half = (priceX64 * BigInt(halfSpreadE6)) / E6 + 1n;
    const quote = { bidX64: priceX64 - half, askX64: priceX64 + half };
    const worth0 = (drawn.worth0 * E18) / E30;
    const position = (MAX_POSITION * positionE6) / E6;
    const bins = Array.from({ length: below + above + 1 }, (_, index): BinState => {
      const number = index - below;
      const partE6 = number < 0 ? E6 : number > 0 ? 0n : positionE6;
      return {
        lengthE6: drawn.lengthE6,
        addFeeBuyE6: drawn.addFeeE6,
        addFeeSellE6: drawn.addFeeE6,
        token0Scaled: (worth0 * (E6 - partE6)) / E6,
        token1Scaled: (worth0 * partE6 * price) / E6 / E30,
      };
    });
    const { spreadFeeE6, notionalFeeE8, scale } = drawn;
    const state: PoolState = {
      lowestBin: -below,
      highestBin: above,
      scale,
      pauseLevel: 0,
      cursor: { bin: 0, position, lowerDistE6: -Math.floor((drawn.lengthE6 * Number(positionE6)) / 1e6) },
      spreadFeeE6,
      notionalFeeE8,
      bins,
    };
    return { priced: pricePool(state, quote), release: drawn.release, stopLoss: stopLossOf(state, quote, drawn) };
  });

interface Marks {
  readonly release: Release;
  readonly isIn0: boolean;
  readonly perShare: bigint;
  readonly drawdownE6: number;
  readonly decayE8: bigint;
  readonly bins: readonly { readonly jitterE6: number; readonly marksE6: readonly [number, number]; age: number }[];
}

function stopLossOf(state: PoolState, quote: BidAsk, drawn: Marks): StopLossState {
  const watched = state.bins.map(({ token0Scaled, token1Scaled }, index): [number, WatchedBin] => {
    const { jitterE6 = 0, marksE6 = [0, 0], age = 0 } = drawn.bins[index] ?? {};
    const balances: Pair = [token0Scaled, token1Scaled];
    const worth = metrics(balances, E6, quote, { ...drawn.release, isDividedFirst: false })[drawn.isIn0 ? 0 : 1] * E6;
    const shares = (((worth * E30) / drawn.perShare) * (E6 + BigInt(jitterE6))) / E6 || 1n;
    const [token0 = 0n, token1 = 0n] = metrics(balances, shares, quote, drawn.release).map(
      (metric, side) => (metric * (E6 + BigInt(marksE6[side] ?? 0))) / E6,
    );
    return [state.lowestBin + index, { shares, watermarks: { token0, token1, updatedAt: NOW - BigInt(age) } }];
  });
  return {
    drawdownE6: drawn.drawdownE6,
    decayPerSecond: drawn.decayE8,
    decayScale: E8,
    timestamp: NOW,
    bins: new Map(watched),
  };
}
