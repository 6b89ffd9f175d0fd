import type { Address } from 'viem';
import type { BoundedCall, CallResult } from '../bounded-calls/bounded-calls.ts';
import { LAYOUT_ADAPTERS } from './adapters.ts';
import { swapOutcome } from './pool-errors.ts';

const SIGNS = LAYOUT_ADAPTERS.flatMap(({ layout, unitSwaps }) =>
  unitSwaps.signs.map(({ form, data }) => ({
    layout,
    name: form === layout ? layout : `${layout} (simulation: ${form})`,
    data,
  })),
);
/** Of a simulated swap of one unit it only counts whether the pool knows the form. */
const BOUNDS = { likelyGas: 500_000, gasLimit: 3_000_000, keptBytes: 4 };

/** What a pool answers like. */
export interface Recognition {
  readonly layout: string;
  readonly name: string;
}

/** The calls whose results {@link recognise} takes: swaps in the forms of all layouts. */
export const recognitionCalls = (target: Address): BoundedCall[] =>
  SIGNS.map(({ data }) => ({ target, data, ...BOUNDS }));

/** The layout that a pool answers like: a form that it does not know is an empty revert. Null when it knows none or several. */
export function recognise(results: readonly (CallResult | null)[]): Recognition | null {
  const known = SIGNS.filter((_, index) => {
    const result = results[index];
    return result && swapOutcome(result) !== 'silence';
  });
  return known.length === 1 ? (known[0] ?? null) : null;
}
