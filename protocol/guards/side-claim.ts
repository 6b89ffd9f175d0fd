import type { CallResult } from '../bounded-calls/bounded-calls.ts';
import { isRejection, type PoolSide, type SideLimit, SMALLEST_SWAP } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import type { StopLossMark, StopLossState } from './stop-loss.ts';

/** The levels of a side that trade; null when nothing does. */
export type ExecutableLevels = readonly DepthLevel[] | null;

/** The part of each side of a pool that trades. */
export interface TradingSides {
  readonly bids: ExecutableLevels;
  readonly asks: ExecutableLevels;
}

/** How far a side trades by its guards' state, and the simulated inputs that confirm it. */
export interface SideClaim {
  readonly side: PoolSide;
  /** Null when the whole side trades. */
  readonly limit: SideLimit | null;
  /** Raw units, a negative one an exact output: the end of the side, then a point beyond it. */
  readonly inputs: readonly bigint[];
}

/** @param stopLoss null for a pool whose guards judge the price alone: any amount asks them */
export function claimSide(side: PoolSide, mark: StopLossMark, stopLoss: StopLossState | null): SideClaim {
  const limit = stopLoss && side.stopLossLimit(mark, stopLoss);
  const carriable = carriableLimit(side);
  if (limit && (!carriable || limit.most < carriable.most)) {
    // Where what fills buys less than a unit, the side is closed.
    const isClosed = limit.most === 0n || outputOf(side.levelsWithin(limit.most, limit.level)) === 0n;
    if (isClosed) return { side, limit: { ...limit, most: 0n }, inputs: [SMALLEST_SWAP] };
    return { side, limit, inputs: [limit.most, ...(limit.beyond === null ? [] : [limit.beyond])] };
  }
  const end = carriable?.most ?? side.levels.at(-1)?.cumulativeInput ?? 0n;
  return { side, limit: carriable, inputs: [stopLoss && hasOutput(side) ? end : SMALLEST_SWAP] };
}

/**
 * The levels that trade where simulated swaps confirm the claim; `disagrees` where they do not.
 *
 * @param results of the claim's inputs
 */
export function confirmClaim({ side, limit, inputs }: SideClaim, results: readonly CallResult[]) {
  const [atEnd, beyond] = results.map((result) => side.swapOutcome(result));
  if (atEnd === 'velocity') return null;
  if (limit?.most === 0n) return isRejection(atEnd) ? null : 'disagrees';
  const agrees =
    (hasOutput(side) ? atEnd === 'fills' : !isRejection(atEnd)) && (inputs.length === 1 || beyond !== 'fills');
  return agrees ? executableLevels(side, limit, results[0]) : 'disagrees';
}

/** What levels give in all, raw units; undefined without levels. */
const outputOf = (levels: readonly DepthLevel[]) => levels.at(-1)?.cumulativeOutput;

const hasOutput = ({ levels }: PoolSide): boolean => (outputOf(levels) ?? 0n) > 0n;

/** @param filled what the pool answered to the end of the limit, where that is known */
export function executableLevels(side: PoolSide, limit: SideLimit | null, filled?: CallResult): ExecutableLevels {
  if (!limit) return side.levels;
  return limit.most === 0n ? null : side.levelsWithin(limit.most, limit.level, filled);
}

/** With extreme prices a side can take more than one swap carries; null when one swap carries all of it. */
function carriableLimit({ levels, maxInput: most }: PoolSide): SideLimit | null {
  const end = levels.at(-1)?.cumulativeInput ?? 0n;
  return end > most ? { most, level: levels.length, beyond: null } : null;
}
