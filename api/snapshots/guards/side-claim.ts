import type { PoolSide, SideLimit, SwapOutcome } from '../../../protocol/curve.ts';
import type { DepthLevel } from '../../../protocol/depth.ts';
import type { StopLossState } from '../../../protocol/guards/stop-loss.ts';
import type { GuardedSide } from './simulated-swap.ts';

/** The levels of a side that trade; null when nothing does. */
export type ExecutableLevels = readonly DepthLevel[] | null;

/** What is said of a side by its guards' state, and the simulated inputs that confirm it. */
export interface SideClaim {
  readonly side: GuardedSide;
  /** Null when the whole side trades. */
  readonly limit: SideLimit | null;
  /** Raw units: the end of the side, then a point beyond it. */
  readonly inputs: readonly bigint[];
}

/** @param stopLoss null for a pool whose guards judge the price alone: any amount asks them */
export function claimSide(side: GuardedSide, stopLoss: StopLossState | null): SideClaim {
  const limit = stopLoss && side.side.stopLossLimit(side.pool.stopLossMark, stopLoss);
  const carriable = carriableLimit(side.side);
  if (limit && (!carriable || limit.most < carriable.most)) {
    const inputs = limit.most === 0n ? [1n] : [limit.most, ...(limit.beyond === null ? [] : [limit.beyond])];
    return { side, limit, inputs };
  }
  const end = carriable?.most ?? side.side.levels.at(-1)?.cumulativeInput ?? 0n;
  return { side, limit: carriable, inputs: [stopLoss && end > 0n ? end : 1n] };
}

/** What the chain makes of a claim; `disagrees` when it does not bear it out. */
export function confirmClaim({ side: { side }, limit, inputs }: SideClaim, outcomes: readonly SwapOutcome[]) {
  const [atEnd, beyond] = outcomes;
  if (atEnd === 'velocity') return null;
  if (limit?.most === 0n) return atEnd === 'fills' ? 'disagrees' : null;
  const agrees = atEnd === 'fills' && (inputs.length === 1 || beyond !== 'fills');
  return agrees ? executableLevels(side, limit) : 'disagrees';
}

export function executableLevels(side: PoolSide, limit: SideLimit | null): ExecutableLevels {
  if (!limit) return side.levels;
  return limit.most === 0n ? null : side.levelsWithin(limit.most, limit.level);
}

/** Odd prices ask for more than one swap can carry; null when the side is within that. */
function carriableLimit({ levels, maxInput: most }: PoolSide): SideLimit | null {
  const end = levels.at(-1)?.cumulativeInput ?? 0n;
  return end > most ? { most, level: levels.length, beyond: null } : null;
}
