import type { CallResult } from '../bounded-calls/bounded-calls.ts';
import { isRejection, type PoolSide, type SideLimit, SMALLEST_SWAP } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import { everyBin, limitOf, probedInput } from './probe-points.ts';
import { STOP_LOSS_MARKS, type StopLossMark, type StopLossState } from './stop-loss.ts';

/** The levels of a side that trade; null when nothing does. */
export type ExecutableLevels = readonly DepthLevel[] | null;

/** The part of each side of a pool that trades. */
export interface TradingSides {
  readonly bids: ExecutableLevels;
  readonly asks: ExecutableLevels;
}

/** How far a side trades by its guards' state, and the simulated swaps that confirm it. */
export interface SideClaim {
  readonly side: PoolSide;
  /** Null when the whole side trades. */
  readonly limit: SideLimit | null;
  /**
   * Raw units, a negative one an exact output: the end of the side unless it is closed, then a point beyond it, where one is
   * certain.
   */
  readonly inputs: readonly bigint[];
}

/**
 * @param mark null where it is not known: the side ends where it does by the most cautious of all marks
 * @param stopLoss null for a pool whose guards judge the price alone: any amount asks them
 */
export function claimSide(side: PoolSide, mark: StopLossMark | null, stopLoss: StopLossState | null): SideClaim {
  const limit = limitOfSide(side, mark, stopLoss);
  const beyond = limit?.beyond ? [limit.beyond] : [];
  if (limit?.most === 0n) return { side, limit, inputs: beyond };
  const end = (stopLoss ?? limit) && hasOutput(side) ? endOf(side, limit) : SMALLEST_SWAP;
  return { side, limit, inputs: [end, ...beyond] };
}

/** What simulated swaps say of a claim. */
export interface ConfirmedSide {
  /** Up to where state and chain agree that the side trades; undefined where the chain rejects the end itself. */
  readonly levels: ExecutableLevels | undefined;
  /** Whether a guard did not do what its state says. */
  readonly isContradicted: boolean;
}

/**
 * A side is offered up to its end alone, also where the chain takes more: closed by its state it stays closed.
 *
 * @param results of the claim's inputs
 */
export function confirmClaim({ side, limit }: SideClaim, results: readonly CallResult[]): ConfirmedSide {
  const [first, beyond] = results.map((result) => side.swapOutcome(result));
  if (limit?.most === 0n) return { levels: null, isContradicted: first === 'fills' };
  if (first === 'velocity') return { levels: null, isContradicted: false };
  const isConfirmed = hasOutput(side) ? first === 'fills' : !isRejection(first);
  if (!isConfirmed) return { levels: undefined, isContradicted: true };
  return {
    levels: executableLevels(side, limit && { ...limit, filled: results[0] }),
    isContradicted: beyond === 'fills',
  };
}

/** The claim of a side whose end the chain rejects: by the most cautious of all marks, with points up to there. */
export function cautiousClaim(side: PoolSide, stopLoss: StopLossState | null): SideClaim {
  const limit = limitOfSide(side, null, stopLoss);
  const end = endOf(side, limit);
  return { side, limit, inputs: end === 0n ? [] : [...everyBin(side).filter((input) => input < end), end] };
}

/**
 * Up to the last input before the first that the chain rejects.
 *
 * @param results of the claim's inputs
 */
export function agreedLevels({ side, limit, inputs }: SideClaim, results: readonly CallResult[]): ExecutableLevels {
  const probed = inputs.map((input, index) => probedInput(side, input, results[index] ?? null));
  return executableLevels(side, limitOf(side, probed) ?? (limit && { ...limit, filled: results.at(-1) }));
}

export function executableLevels(side: PoolSide, limit: SideLimit | null): ExecutableLevels {
  if (!limit) return side.levels;
  return limit.most === 0n ? null : side.levelsWithin(limit);
}

/** By guards, and by what one swap can carry. A side of which less than a unit of output fills is closed. */
function limitOfSide(side: PoolSide, mark: StopLossMark | null, stopLoss: StopLossState | null): SideLimit | null {
  const limit = firstOf([stopLoss && stopLossLimit(side, mark, stopLoss), carriableLimit(side)]);
  const last = limit && side.levelsWithin(limit).at(-1);
  const isBelowUnit = last && last.cumulativeInput > 0n && last.cumulativeOutput === 0n;
  return limit && isBelowUnit ? { ...limit, most: 0n } : limit;
}

/** By the mark, or by the most cautious of all; nothing is certain beyond the latter. */
function stopLossLimit(side: PoolSide, mark: StopLossMark | null, state: StopLossState): SideLimit | null {
  if (mark !== null) return side.stopLossLimit(mark, state);
  const limit = firstOf(STOP_LOSS_MARKS.map((each) => side.stopLossLimit(each, state)));
  return limit && { ...limit, beyond: null };
}

const firstOf = (limits: readonly (SideLimit | null)[]): SideLimit | null =>
  limits.reduce((first, limit) => (limit && (!first || limit.most < first.most) ? limit : first), null);

/** Input, raw units, at which a side ends. */
const endOf = ({ levels }: PoolSide, limit: SideLimit | null): bigint =>
  limit?.most ?? levels.at(-1)?.cumulativeInput ?? 0n;

const hasOutput = ({ levels }: PoolSide): boolean => (levels.at(-1)?.cumulativeOutput ?? 0n) > 0n;

/** With extreme prices a side can take more than one swap carries; null when one swap carries all of it. */
function carriableLimit({ levels, maxInput: most }: PoolSide): SideLimit | null {
  const end = levels.at(-1)?.cumulativeInput ?? 0n;
  return end > most ? { most, level: levels.length, beyond: null } : null;
}
