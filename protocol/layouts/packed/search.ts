import type { Address } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { CurveKnowledge, DropReason, SearchContext, SearchStep } from '../../curve-search.ts';
import type { PoolState } from '../../pool-state.ts';
import type { ReadPrices } from '../create-adapter.ts';
import type { PricedPool } from '../ladder.ts';
import { emptySideProbes, isShownEmpty } from './empty-sides.ts';
import { type Probe, searchedSwaps } from './searched-swaps.ts';
import type { SimulationForm } from './simulation.ts';

/** What was read of a pool at one block. */
export interface PackedRead extends ReadPrices {
  readonly state: PoolState;
  /** The provider that the pool's storage names; null when it is an immutable of the pool. */
  readonly mutablePriceProvider: Address | null;
}

/** A search on its way. */
export interface Search extends PackedRead {
  readonly priced: PricedPool;
  readonly provider: Address | null;
  readonly context: SearchContext;
  readonly known: CurveKnowledge | undefined;
  readonly dropped: DropReason | null;
}

/** A search that knows how swaps are simulated. */
export type Asking = Search & { readonly form: SimulationForm };

/** Asks for simulated swaps of probes. */
export function simulate(
  { priced, form, context }: Asking,
  probes: readonly Probe[],
  next: (results: readonly CallResult[], isSilenced: boolean) => SearchStep,
): SearchStep {
  if (probes.length === 0) return next([], true);
  const swaps = searchedSwaps(priced, form, probes, areGuardsAsked(context));
  return { kind: 'simulate', swaps, silenced: context.evaluatedGuards, next };
}

/** Whether extensions take part in simulated swaps, which takes gas, where the node can leave known guards out. */
export const areGuardsAsked = ({ isGuarded, evaluatedGuards }: SearchContext): boolean =>
  isGuarded && evaluatedGuards.length === 0;

/** The end of a search, once sides that are read as empty are shown to give nothing: other swaps do not touch them. */
export function proved(search: Asking, end: SearchStep): SearchStep {
  const probes = emptySideProbes(search.priced);
  return simulate(search, probes, (results, isSilenced) => {
    const { isGuarded } = search.context;
    const mayReject = areGuardsAsked(search.context) || (isGuarded && !isSilenced);
    const isShown = probes.every((probe, index) => isShownEmpty(probe, results[index], mayReject));
    return isShown ? end : failed(search, 'a side that is read as empty is not shown to be');
  });
}

/** The end of a search that found no curve. */
export function failed({ known, dropped }: Search, reason: string): SearchStep {
  return { kind: 'failed', reason, known, dropped };
}
