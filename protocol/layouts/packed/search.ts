import type { Address } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import { isRejection, SMALLEST_SWAP } from '../../curve.ts';
import type { SearchChain, SearchContext } from '../../curve-search.ts';
import { filledSwap, swapOutcome } from '../../pool-errors.ts';
import type { PoolState } from '../../pool-state.ts';
import type { ReadPrices } from '../create-adapter.ts';
import type { PricedPool } from '../ladder.ts';
import { feeFreeSide } from './fee-free-side.ts';
import type { Probe } from './formulas.ts';
import { searchedSwaps } from './searched-swaps.ts';
import type { SimulationForm } from './simulation.ts';

/** What was read of a pool at one block. */
export interface PackedRead extends ReadPrices {
  readonly state: PoolState;
  /** The provider that the pool's storage names; null when it is an immutable of the pool. */
  readonly mutablePriceProvider: Address | null;
}

/** A pool whose quote is known. */
export interface Search extends PackedRead {
  readonly priced: PricedPool;
  readonly provider: Address | null;
  readonly context: SearchContext;
  readonly chain: SearchChain;
}

/** A search that knows how swaps are simulated. */
export interface SimulatedSearch extends Search {
  readonly form: SimulationForm;
}

/** `zeroForOne` of both sides. */
export const SIDES = [true, false];

/** Simulates swaps of the pool, without its guards where the node can leave them out. */
async function simulate({ priced, form, context, chain }: SimulatedSearch, probes: readonly Probe[]) {
  if (probes.length === 0) return { results: [], isSilenced: true };
  return chain.simulate(searchedSwaps(priced, form, probes, context.isUnknownGuarded), context.guards);
}

/**
 * Simulates swaps of both sides together.
 *
 * @returns what each took and gave, all and by side; null where it was refused
 */
export async function simulateSides(simulated: SimulatedSearch, amounts: readonly (readonly bigint[])[]) {
  const probes = SIDES.flatMap((zeroForOne, side) =>
    (amounts[side] ?? []).map((amountSpecified) => ({ zeroForOne, amountSpecified })),
  );
  const { results, isSilenced } = await simulate(simulated, probes);
  const fills = probes.map((probe, index) => filledSwap(probe, results[index]));
  const ofSides = SIDES.map((zeroForOne) => fills.filter((_, index) => probes[index]?.zeroForOne === zeroForOne));
  return { probes, results, isSilenced, fills, ofSides };
}

/**
 * Whether sides that hold less than a raw unit pay out nothing: asks each for a unit, since other swaps do not touch
 * it. A rejection shows nothing, except where guards run in the swap: they close the side then.
 */
export async function emptySidesGiveNothing(simulated: SimulatedSearch): Promise<boolean> {
  const probes = SIDES.filter(
    (zeroForOne) => (feeFreeSide(simulated.priced, zeroForOne).levels.at(-1)?.cumulativeOutput ?? 0n) === 0n,
  ).map((zeroForOne) => ({ zeroForOne, amountSpecified: SMALLEST_SWAP }));
  const { results, isSilenced } = await simulate(simulated, probes);
  const mayReject = simulated.context.guards.length > 0 && !isSilenced;
  const givesNothing = (probe: Probe, result: CallResult | undefined) => {
    const outcome = result ? swapOutcome(result) : 'silence';
    if (outcome === 'fills') return filledSwap(probe, result)?.amountOut === 0n;
    return mayReject || !isRejection(outcome);
  };
  return probes.every((probe, index) => givesNothing(probe, results[index]));
}
