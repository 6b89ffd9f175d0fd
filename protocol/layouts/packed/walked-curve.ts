import type { PoolCurve, PoolSide, SwapAmounts } from '../../curve.ts';
import type { DepthLevel } from '../../depth.ts';
import { maxBigint, minBigint, mulDivCeil, mulDivFloor, Q64 } from '../../fixed-point.ts';
import { filledSwap } from '../../pool-errors.ts';
import { fillWhole } from '../bin-fill.ts';
import { poolSide } from '../pool-side.ts';
import { distanceE6Floor, multipliers, type SideCurve, sideCurve } from '../side-curve.ts';
import type { SideFees } from '../side-fees.ts';
import { packedSimulation } from './simulation.ts';
import type { FoundSide } from './walk.ts';
import type { Pairs } from './walk-plan.ts';
import { type Stretch, stretchPrices } from './walk-prices.ts';

const NOTHING: SwapAmounts = { amountIn: 0n, amountOut: 0n };

/**
 * Makes a curve of simulated sides, whose levels are pairs from the chain. A stop loss is evaluated with the mean fees
 * of bins, and ends a side early by the fee of the bin in which it ends.
 */
export function walkedCurve(bids: FoundSide, asks: FoundSide): PoolCurve {
  return { bids: walkedPoolSide(bids), asks: walkedPoolSide(asks) };
}

function walkedPoolSide(found: FoundSide): PoolSide {
  const { side, bestX64, pairs } = found;
  const { priced, zeroForOne } = side.bare;
  const levels = levelsOf(found, pairs, found.measured);
  const whole = sideCurve(priced, zeroForOne, meanFees(found, levels), bestX64);
  const curve = { ...whole, levels, steps: whole.steps.slice(0, levels.length) };
  return {
    ...poolSide(curve, packedSimulation, side.of.form),
    // The curve between levels is not known.
    inputWithin: (outputRaw) =>
      levels.findLast(({ cumulativeOutput }) => cumulativeOutput <= outputRaw)?.cumulativeInput ?? 0n,
    outputWithin: () => null,
    levelsWithin({ most, level, filled }) {
      const reached = levels.slice(0, level).filter(({ cumulativeInput }) => cumulativeInput <= most);
      const fill = filledSwap({ zeroForOne }, filled);
      const output = reached.at(-1)?.cumulativeOutput ?? 0n;
      if (!fill || fill.amountOut - 1n <= output) return reached;
      const before = [...pairs].filter(([, { amountOut }]) => amountOut <= output);
      // An exact output may cost as much as one more unit.
      const end = { ...fill, amountOut: fill.amountOut - 1n };
      return levelsOf(found, new Map([...before, [end.amountOut, end]]));
    },
  };
}

/** Makes levels of pairs: one for each bin whose end was reached, and one that ends inside the next bin. */
function levelsOf(
  { side: { bare, edges }, bestX64 }: FoundSide,
  pairs: Pairs,
  measured: Pairs = pairs,
): readonly DepthLevel[] {
  const last = pairs.keys().reduce(maxBigint, 0n);
  const stretches: Stretch[] = [];
  const shown: { readonly from: SwapAmounts; readonly to: SwapAmounts }[] = [];
  let from = NOTHING;
  let start = NOTHING;
  for (const [index, step] of bare.steps.entries()) {
    const edge = edges[index] ?? 0n;
    const isWhole = edge <= last;
    const to = edge === 0n ? NOTHING : pairs.get(isWhole ? edge : last);
    if (!to || to.amountIn < from.amountIn || (!isWhole && to.amountOut <= from.amountOut)) break;
    const end = (edge > 0n && measured.get(isWhole ? edge : last)) || to;
    shown.push({ from, to });
    stretches.push({ step, isWhole, from: start, to: end });
    if (!isWhole) break;
    [from, start] = [to, end];
  }
  const prices = stretchPrices(bare, stretches, bestX64);
  return shown.map(({ from, to }, index) => {
    const priceX64 = noBetter(bare, prices[index] ?? 0n, from, to);
    return {
      bin: stretches[index]?.step.slice.bin ?? 0,
      priceX64,
      cumulativeOutput: to.amountOut,
      cumulativeInput: to.amountIn,
      priceImpactE6: distanceE6Floor(priceX64, bestX64),
    };
  });
}

/** Makes a price no better than what is shown takes and gives on average, as far as raw units show that. */
function noBetter(side: SideCurve, priceX64: bigint, from: SwapAmounts, to: SwapAmounts): bigint {
  const [multiplierIn, multiplierOut] = multipliers(side);
  const paid = (to.amountIn - from.amountIn - 1n) * multiplierIn;
  const given = (to.amountOut - from.amountOut + 1n) * multiplierOut;
  if (paid <= 0n) return priceX64;
  return side.zeroForOne
    ? minBigint(priceX64, mulDivFloor(given, Q64, paid))
    : maxBigint(priceX64, mulDivCeil(paid, Q64, given));
}

/** The mean fee of each bin as one factor on its input, such that the inputs are those of the levels. */
function meanFees({ side: { bare } }: FoundSide, levels: readonly DepthLevel[]): SideFees {
  const [multiplierIn] = multipliers(bare);
  const factors = new Map<number, bigint>();
  let input = 0n;
  for (const [index, { cumulativeInput }] of levels.entries()) {
    const slice = bare.steps[index]?.slice;
    const net = slice ? fillWhole(slice).net : 0n;
    if (!slice || net === 0n) continue;
    const charge = {
      on: 'net',
      factorX64: maxBigint(((cumulativeInput * multiplierIn - input) * Q64) / net, Q64),
    } as const;
    factors.set(slice.bin, charge.factorX64);
    input += fillWhole({ ...slice, charge }).input;
  }
  return {
    charge: (_, bin) => ({ on: 'net', factorX64: factors.get(bin) ?? Q64 }),
    endFeeE8: 0,
    marginE15: 0n,
    leavesE6: null,
    isMean: true,
  };
}
