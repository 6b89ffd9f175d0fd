import type { CallResult } from '../bounded-calls/bounded-calls.ts';
import { isRejection, type PoolSide, type SideLimit, SMALLEST_SWAP } from '../curve.ts';
import type { ExecutableLevels } from '../depth.ts';
import { STOP_LOSS_MARKS, STOP_LOSS_ROUNDINGS, type StopLossMark, type StopLossState } from '../stop-loss/stop-loss.ts';
import { everyBin, limitOf, probedInput } from './probe-points.ts';

/** Roundings count as one where their limits differ by at most one part in this many of the side. */
const WORTHWHILE = 1_000_000n;

/** How far a side trades by its guards' state, and the simulated swaps that confirm it. */
export interface SideClaim {
  readonly side: PoolSide;
  /** By each rounding that the stop loss may have, the lowest first; a cautious one where they hardly differ. */
  readonly readings: readonly SideReading[];
  /** Amounts to simulate for all readings, in order: raw units, negative for an exact output. */
  readonly inputs: readonly bigint[];
}

/** How far a side trades if the stop loss rounds in one way. */
interface SideReading {
  /** Null when the whole side trades. */
  readonly limit: SideLimit | null;
  /** An input that fills if the reading holds: the end of the side, or the smallest swap; null for a closed side. */
  readonly end: bigint | null;
  /** An input that is refused if the reading holds; null where none is certain. */
  readonly beyond: bigint | null;
}

/**
 * Derives from the guards' state how far a side trades, and which simulated swaps confirm it.
 *
 * @param mark null where it is not known: the most cautious of all marks then ends the side
 * @param stopLoss null for a pool whose guards judge only the price: a swap of any amount shows their verdict
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

/** What simulated swaps show about a claim. */
export interface ConfirmedSide {
  /** Up to where state and chain agree that the side trades; undefined where the chain rejects the end itself. */
  readonly levels: ExecutableLevels | undefined;
  /** Whether a guard did not do what its state says. */
  readonly isContradicted: boolean;
}

/**
 * Compares a claim with simulated swaps. A stop loss has one rounding, so the side is offered as far as the lowest
 * reading that the chain does not contradict. It is offered no further, even where the chain accepts more.
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

/** How far a side trades by the most cautious of all marks and roundings, with inputs up to there. */
interface CautiousClaim {
  readonly side: PoolSide;
  readonly limit: SideLimit | null;
  readonly inputs: readonly bigint[];
}

/** Makes the claim of a side whose end the chain rejected. */
export function cautiousClaim(side: PoolSide, stopLoss: StopLossState | null): CautiousClaim {
  const limit = limitOfSide(side, null, stopLoss);
  const end = endOf(side, limit);
  return { side, limit, inputs: end === 0n ? [] : [...everyBin(side).filter((input) => input < end), end] };
}

/**
 * The levels up to the last input that fills before the first that the chain rejects.
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

/** The limits by each rounding, lowest first; only the cautious one where the mark is unknown or they hardly differ. */
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

/** The limit by guards and by what one swap can carry. A side that pays out less than a unit up to it is closed. */
function limitOfSide(side: PoolSide, mark: StopLossMark | null, stopLoss: StopLossState | null): SideLimit | null {
  const limit = firstOf([stopLoss && stopLossLimit(side, mark, stopLoss), carriableLimit(side)]);
  const last = limit && side.levelsWithin(limit).at(-1);
  const isBelowUnit = last && last.cumulativeInput > 0n && last.cumulativeOutput === 0n;
  return limit && isBelowUnit ? { ...limit, most: 0n } : limit;
}

/** The limit by this mark. Without a mark, the lowest limit of all marks, beyond which no refusal is certain. */
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

/** The most that one swap carries, if extreme prices let a side take more; null when it carries the whole side. */
function carriableLimit({ levels, maxInput: most }: PoolSide): SideLimit | null {
  const end = levels.at(-1)?.cumulativeInput ?? 0n;
  return end > most ? { most, level: levels.length, beyond: null } : null;
}
