import type { PackedBinSwapped } from '../../../pool-events.ts';
import type { TokenScale } from '../../../scaling.ts';
import type { Hypothesis } from '../../../verdict.ts';
import type { TokenPair } from '../../storage.ts';
import type { DeltaScale } from '../interpretations.ts';
import { change, type ObservedSwap } from './observed-swap.ts';

/**
 * Units of `binDeltas`: in sum they are what changed of a bin in storage, exactly or to a raw unit each. Pools whose tokens
 * both have the internal decimals tell nothing, and need no answer.
 */
export const deltaScaleHypotheses: readonly Hypothesis<DeltaScale, ObservedSwap>[] = [
  { name: 'scaled', contradiction: (observed) => firstOff(observed, () => 0n, { multiplier0: 1n, multiplier1: 1n }) },
  { name: 'raw', contradiction: (observed) => firstOff(observed, (unit) => unit - 1n, observed.scale) },
];

/**
 * The first bin whose deltas are not what changed of it.
 *
 * @param most by how much each delta may be off, given the scaled units in one of its units
 */
function firstOff(
  { bins, before, after }: ObservedSwap,
  most: (unit: bigint) => bigint,
  { multiplier0, multiplier1 }: TokenScale,
): string | null {
  for (const bin of new Set(bins.map((event) => event.bin))) {
    const events = bins.filter((event) => event.bin === bin);
    const stored = change(stateOf(before.bins, bin), stateOf(after.bins, bin));
    const told = deltasOf(events, multiplier0, multiplier1);
    const count = BigInt(events.length);
    const off0 = distance(told.token0Scaled, stored.token0Scaled) > most(multiplier0) * count;
    const off1 = distance(told.token1Scaled, stored.token1Scaled) > most(multiplier1) * count;
    if (off0 || off1) return `bin ${bin} changed by ${shown(stored)}, its deltas say ${shown(told)}`;
  }
  return null;
}

function deltasOf(events: readonly PackedBinSwapped[], unit0: bigint, unit1: bigint): TokenPair {
  return {
    token0Scaled: events.reduce((sum, { delta0 }) => sum + delta0 * unit0, 0n),
    token1Scaled: events.reduce((sum, { delta1 }) => sum + delta1 * unit1, 0n),
  };
}

function stateOf(bins: ReadonlyMap<number, TokenPair>, bin: number): TokenPair {
  const state = bins.get(bin);
  if (state === undefined) throw new RangeError(`the storage of bin ${bin} was not read`);
  return state;
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);
const shown = ({ token0Scaled, token1Scaled }: TokenPair) => `${token0Scaled} and ${token1Scaled}`;
