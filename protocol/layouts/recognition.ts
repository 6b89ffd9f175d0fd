import type { Address } from 'viem';
import type { BoundedCall, CallResult } from '../bounded-calls/bounded-calls.ts';
import { swapOutcome } from '../pool-errors.ts';
import { LAYOUT_ADAPTERS } from './adapters.ts';

const SIGNS = LAYOUT_ADAPTERS.flatMap(({ layout, unitSwaps }) =>
  unitSwaps.signs.map(({ form, data }) => ({
    layout,
    name: form === layout ? layout : `${layout} (simulation: ${form})`,
    data,
  })),
);
/** Bounds of a simulated swap of one unit: its result only has to show whether the pool knows the form. */
const BOUNDS = { likelyGas: 500_000, gasLimit: 3_000_000, keptBytes: 4 };

/** The layout and the form by which a pool was recognised. */
export interface Recognition {
  readonly layout: string;
  readonly name: string;
}

/** The calls whose results {@link recognise} takes: swaps in the forms of all layouts. */
export const recognitionCalls = (target: Address): BoundedCall[] =>
  SIGNS.map(({ data }) => ({ target, data, ...BOUNDS }));

/** Finds a pool's layout by the form that it knows: an unknown form reverts without data. Null for none or several. */
export function recognise(results: readonly (CallResult | null)[]): Recognition | null {
  const known = SIGNS.filter((_, index) => {
    const result = results[index];
    return result && swapOutcome(result) !== 'silence';
  });
  return known.length === 1 ? (known[0] ?? null) : null;
}
