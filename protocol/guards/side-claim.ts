import type { CallResult } from '../bounded-calls/bounded-calls.ts';
import { isRejection, type PoolSide, type SideLimit, SMALLEST_SWAP } from '../curve.ts';
import type { DepthLevel } from '../depth.ts';
import { everyBin, limitOf, probedInput } from './probe-points.ts';
import { STOP_LOSS_MARKS, STOP_LOSS_ROUNDINGS, type StopLossMark, type StopLossState } from './stop-loss.ts';

/** A side is not cut by more than this part of it only because roundings differ. */
const WORTHWHILE = 1_000_000n;

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
  /** By every rounding that the stop loss may have, the lowest first; one that allows for all where they hardly differ. */
  readonly readings: readonly SideReading[];
  /** Those of the readings. Raw units, a negative one an exact output. */
  readonly inputs: readonly bigint[];
}

/** How far a side trades by one rounding. */
interface SideReading {
  /** Null when the whole side trades. */
  readonly limit: SideLimit | null;
  /** An input that fills, if it holds: the end of the side unless it is closed. */
  readonly end: bigint | null;
  /** An input that is refused, if it holds; null where none is certain. */
  readonly beyond: bigint | null;
}

/**
 * @param mark null where it is not known: the side ends where it does by the most cautious of all marks
 * @param stopLoss null for a pool whose guards judge the price alone: any amount asks them
 */
export function claimSide(side: PoolSide, mark: StopLossMark | null, stopLoss: StopLossState | null): SideClaim {
  const limit = limitOfSide(side, mark, stopLoss);
  const readings = readingsOf(side, limit, mark, stopLoss).map((each): SideReading => {
    const end = (stopLoss ?? each) && hasOutput(side) ? endOf(side, each) : SMALLEST_SWAP;
    return { limit: each, end: each?.most === 0n ? null : end, beyond: each?.beyond || null };
  });
  return { side, readings, inputs: readings.flatMap(inputsOf) };
}

const inputsOf = ({ end, beyond }: SideReading): bigint[] => [end, beyond].filter((input) => input !== null);

/** What simulated swaps say of a claim. */
export interface ConfirmedSide {
  /** Up to where state and chain agree that the side trades; undefined where the chain rejects the end itself. */
  readonly levels: ExecutableLevels | undefined;
  /** Whether a guard did not do what its state says. */
  readonly isContradicted: boolean;
}

/**
 * A stop loss has one rounding: the side is offered as far as the lowest reading that the chain does not contradict. It is
 * offered up to that end alone, also where the chain takes more.
 *
 * @param results of the claim's inputs
 */
export function confirmClaim({ side, readings }: SideClaim, results: readonly CallResult[]): ConfirmedSide {
  const rest = [...results];
  const confirmed = readings.map((reading) => confirmReading(side, reading, rest.splice(0, inputsOf(reading).length)));
  const [first] = confirmed;
  const agreed = confirmed.find(({ isContradicted }) => !isContradicted);
  return agreed ?? (confirmed.length === 1 && first ? first : { levels: undefined, isContradicted: true });
}

function confirmReading(side: PoolSide, { limit, end }: SideReading, results: readonly CallResult[]): ConfirmedSide {
  const [first, beyond] = results.map((result) => side.swapOutcome(result));
  if (end === null) return { levels: null, isContradicted: first === 'fills' };
  if (first === 'velocity') return { levels: null, isContradicted: false };
  const isConfirmed = hasOutput(side) ? first === 'fills' : !isRejection(first);
  if (!isConfirmed) return { levels: undefined, isContradicted: true };
  return {
    levels: executableLevels(side, limit && { ...limit, filled: results[0] }),
    isContradicted: beyond === 'fills',
  };
}

/** By the most cautious of all marks and roundings, with points up to there. */
interface CautiousClaim {
  readonly side: PoolSide;
  readonly limit: SideLimit | null;
  readonly inputs: readonly bigint[];
}

/** The claim of a side whose end the chain rejects. */
export function cautiousClaim(side: PoolSide, stopLoss: StopLossState | null): CautiousClaim {
  const limit = limitOfSide(side, null, stopLoss);
  const end = endOf(side, limit);
  return { side, limit, inputs: end === 0n ? [] : [...everyBin(side).filter((input) => input < end), end] };
}

/**
 * Up to the last input before the first that the chain rejects.
 *
 * @param results of the claim's inputs
 */
export function agreedLevels({ side, limit, inputs }: CautiousClaim, results: readonly CallResult[]): ExecutableLevels {
  const probed = inputs.map((input, index) => probedInput(side, input, results[index] ?? null));
  return executableLevels(side, limitOf(side, probed) ?? (limit && { ...limit, filled: results.at(-1) }));
}

export function executableLevels(side: PoolSide, limit: SideLimit | null): ExecutableLevels {
  if (!limit) return side.levels;
  return limit.most === 0n ? null : side.levelsWithin(limit);
}

/** The limits by every rounding, unless they differ by less than is worth a swap; of unknown marks only the most cautious. */
function readingsOf(
  side: PoolSide,
  cautious: SideLimit | null,
  mark: StopLossMark | null,
  stopLoss: StopLossState | null,
): readonly (SideLimit | null)[] {
  if (!cautious || !stopLoss || mark === null) return [cautious];
  const limits = STOP_LOSS_ROUNDINGS.map((rounding) => limitOfSide(side, mark, { ...stopLoss, rounding }));
  const gain = (limit: SideLimit | null) => endOf(side, limit) - cautious.most;
  if (limits.every((limit) => gain(limit) * WORTHWHILE <= endOf(side, null))) return [cautious];
  const distinct = new Map(limits.map((limit) => [`${limit?.most} ${limit?.beyond}`, limit]));
  return [...distinct.values()].sort((a, b) => (gain(a) < gain(b) ? -1 : 1));
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
