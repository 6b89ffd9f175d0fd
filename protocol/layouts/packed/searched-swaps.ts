import { CALLER, type CallResult } from '../../bounded-calls/bounded-calls.ts';
import { SMALLEST_SWAP } from '../../curve.ts';
import type { SearchedSwap } from '../../curve-search.ts';
import { swapOutcome } from '../../pool-errors.ts';
import { toScaled } from '../../scaling.ts';
import type { PricedPool } from '../ladder.ts';
import { multipliers, type SideCurve } from '../side-curve.ts';
import { FEE_FORMULAS, formulaCurve, type Probe } from './formulas.ts';
import { packedSimulation, SIMULATION_FORMS, type SimulationForm } from './simulation.ts';

/**
 * Measured gas of a simulated swap: a base, an amount for each bin that it touches, and the pool's search for the
 * output of an input that ends inside a bin.
 */
const LIKELY_GAS = {
  free: { base: 50_000, perBin: 24_000, search: 60_000 },
  guarded: { base: 130_000, perBin: 55_000, search: 60_000 },
};
/** Gas after which it counts as refused. */
const GAS_LIMIT = { base: packedSimulation.gasLimit, perBin: 110_000, most: 40_000_000 };

/** Encodes swaps to simulate, in one form. */
export function searchedSwaps(
  priced: PricedPool,
  form: SimulationForm,
  probes: readonly Probe[],
  isGuarded: boolean,
): readonly SearchedSwap[] {
  const { bids, asks } = formulaCurve(priced, FEE_FORMULAS[0]);
  const likely = isGuarded ? LIKELY_GAS.guarded : LIKELY_GAS.free;
  return probes.map((probe) => {
    const side = probe.zeroForOne ? bids : asks;
    const bins = binsTouched(side, probe.amountSpecified);
    const endsInside =
      probe.amountSpecified > 0n && probe.amountSpecified < (side.levels.at(-1)?.cumulativeInput ?? 0n);
    return {
      data: packedSimulation.encode(form, { ...probe, quote: priced.quote, trader: CALLER }),
      likelyGas: likely.base + bins * likely.perBin + (endsInside ? likely.search : 0),
      gasLimit: Math.min(GAS_LIMIT.base + bins * GAS_LIMIT.perBin, GAS_LIMIT.most),
    };
  });
}

/** Encodes a purchase of one unit in every form. Pools revert without data in a form that they do not know. */
export function formSwaps(priced: PricedPool, isGuarded: boolean): readonly SearchedSwap[] {
  const probe = { zeroForOne: false, amountSpecified: SMALLEST_SWAP };
  return SIMULATION_FORMS.flatMap((form) => searchedSwaps(priced, form, [probe], isGuarded));
}

/** The form that a pool knows: the one that fills, or the only one that it answers; null when that is not certain. */
export function knownForm(results: readonly CallResult[]): SimulationForm | null {
  const outcomes = SIMULATION_FORMS.map((form, index) => {
    const result = results[index];
    return { form, outcome: result ? swapOutcome(result) : 'silence' };
  });
  const filling = outcomes.filter(({ outcome }) => outcome === 'fills');
  const answered = filling.length > 0 ? filling : outcomes.filter(({ outcome }) => outcome !== 'silence');
  return answered.length === 1 ? (answered[0]?.form ?? null) : null;
}

/** Number of bins that a swap is likely to touch. */
function binsTouched(side: SideCurve, amountSpecified: bigint): number {
  const [multiplierIn, multiplierOut] = multipliers(side);
  const [input, output] = [toScaled(amountSpecified, multiplierIn), toScaled(-amountSpecified, multiplierOut)];
  return side.steps.filter(({ inputBefore, outputBefore }) =>
    amountSpecified > 0n ? inputBefore < input : outputBefore < output,
  ).length;
}
