import type { PoolCurve, PoolSide } from '../../curve.ts';
import type { DepthLevel } from '../../depth.ts';
import { maxBigint, Q64 } from '../../fixed-point.ts';
import { fillWhole } from '../bin-fill.ts';
import { poolSide } from '../pool-side.ts';
import { multipliers, type SwapAmounts, sideCurve } from '../side-curve.ts';
import type { SideFees } from '../side-fees.ts';
import { filledSwap } from './searched-swaps.ts';
import { packedSimulation } from './simulation.ts';
import type { FoundSide } from './walk.ts';
import { walkedLevels } from './walk-levels.ts';

/**
 * Sides that were simulated whole without their guards, as the rest of the service sees them: the levels are pairs of the
 * chain. A stop loss is evaluated with what bins take on average, short of its end by the fee of the bin that is cut.
 */
export function walkedCurve(bids: FoundSide, asks: FoundSide): PoolCurve {
  return { bids: walkedPoolSide(bids), asks: walkedPoolSide(asks) };
}

function walkedPoolSide(found: FoundSide): PoolSide {
  const { side, bestX64 } = found;
  const levels = found.levels ?? [];
  const { priced, zeroForOne } = side.bare;
  const curve = { ...sideCurve(priced, zeroForOne, meanFees(found), bestX64), levels };
  return {
    ...poolSide(curve, packedSimulation, side.of.form),
    levelsWithin(most, end, filled) {
      const whole = levels.slice(0, end).filter(({ cumulativeInput }) => cumulativeInput <= most);
      const fill = filled ? filledSwap({ zeroForOne, amountSpecified: most }, filled) : null;
      return fill ? cutLevels(found, whole, fill) : whole;
    },
  };
}

/** Whole levels, and one more for what the pool gave inside the bin behind them. */
function cutLevels(
  { side, bestX64, pairs }: FoundSide,
  whole: readonly DepthLevel[],
  fill: SwapAmounts,
): readonly DepthLevel[] {
  const reached = whole.at(-1)?.cumulativeOutput ?? 0n;
  if (fill.amountOut <= reached) return whole;
  const before = [...pairs].filter(([, { amountOut }]) => amountOut <= reached);
  return walkedLevels(side, new Map([...before, [fill.amountOut, fill]]), bestX64);
}

/** What each bin takes on average, as one factor on its input, such that inputs are those of the levels. */
function meanFees({ side: { bare }, levels }: FoundSide): SideFees {
  const [multiplierIn] = multipliers(bare);
  const factors = new Map<number, bigint>();
  let input = 0n;
  for (const [index, { slice }] of bare.steps.entries()) {
    const { net } = fillWhole(slice);
    if (net === 0n) continue;
    const paid = (levels?.[index]?.cumulativeInput ?? 0n) * multiplierIn - input;
    const charge = { on: 'net', factorX64: maxBigint((paid * Q64) / net, Q64) } as const;
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
