import type { Address } from 'viem';
import { type DepthLevel, levelAtInput, type SideCurve } from '../../../protocol/depth.ts';
import type { WalkLevel } from '../../../protocol/fill-walk.ts';
import { minBigint } from '../../../protocol/fixed-point.ts';
import type { PoolCurve } from '../curve-snapshot.ts';

/** Steps per bin: how finely the place where a guard stops a side is told. As in `GuardSearch.sol`. */
export const STEPS_PER_BIN = 1_000_000;
/** The largest amount of a swap, an int128. Odd prices can ask for more: nobody can trade it, so no guard is asked. */
const MOST_INPUT = 2n ** 127n - 1n;

/** What a search knows: the side trades at step `low` and does not at `high`, null until the whole side was asked about. */
export interface Found {
  readonly low: number;
  readonly high: number | null;
  readonly done: boolean;
  /** Whether the last simulation burned all the gas that one may take. */
  readonly burned: boolean;
}

export const NOTHING_FOUND: Found = { low: 0, high: null, done: false, burned: false };

/** Not even the least amount trades, and to find out cost as much as it can. */
export const isBurnedOut = ({ low, done, burned }: Found): boolean => done && low === 0 && burned;

/** One side of a guarded pool to search. */
export interface SideJob {
  readonly pool: Address;
  readonly curve: PoolCurve;
  readonly side: SideCurve;
  /** The bins that trade, in order. */
  readonly bins: readonly TradingBin[];
}

export interface TradingBin {
  /** Index among all levels of the side. */
  readonly level: number;
  /** Cumulative input through the end of the bin, raw units; no more than one swap can carry. */
  readonly inputAfter: bigint;
}

export function sideJob(pool: Address, curve: PoolCurve, side: SideCurve): SideJob {
  return { pool, curve, side, bins: tradingBins(side.levels) };
}

export function tradingBins(levels: readonly WalkLevel[]): TradingBin[] {
  const bins: TradingBin[] = [];
  let before = 0n;
  for (const [level, { cumulativeInput }] of levels.entries()) {
    const inputAfter = minBigint(cumulativeInput, MOST_INPUT);
    if (inputAfter > before) bins.push({ level, inputAfter });
    before = inputAfter;
  }
  return bins;
}

/**
 * The part of a side that trades; null when nothing does. A side that ends inside a bin has one more level for the part of
 * that bin which fills.
 */
export function executableLevels({ side, bins }: SideJob, { low, high }: Found): readonly DepthLevel[] | null {
  if (high === null) return side.levels;
  if (low === 0) return null;
  const index = Math.floor(low / STEPS_PER_BIN);
  const whole = side.levels.slice(0, bins[index]?.level ?? side.levels.length);
  const part = low % STEPS_PER_BIN;
  if (part === 0) return whole;
  const before = bins[index - 1]?.inputAfter ?? 0n;
  const after = bins[index]?.inputAfter ?? before;
  const partial = levelAtInput(side, before + ((after - before) * BigInt(part)) / BigInt(STEPS_PER_BIN));
  return partial ? [...whole, partial] : whole;
}
