import type { Hypothesis } from '../../../verdict.ts';
import { DETAILS_READINGS } from '../candidates.ts';
import { type DetailsShape, readDetails } from '../events.ts';
import { type ObservedSwap, swapFlow } from './observed-swap.ts';

export type DetailsReading = (typeof DETAILS_READINGS)[number]['name'];

/**
 * Readings of a swap's `details`: the cursor that it tells is the one in storage after the swap, and its direction that of
 * the amounts. Whether a swap was of an exact input leaves no trace in storage: that flag stands or falls with the others.
 */
export const detailsHypotheses: readonly Hypothesis<DetailsReading, ObservedSwap>[] = DETAILS_READINGS.map(
  ({ name, shape }) => ({ name, contradiction: (observed) => detailsContradiction(shape, observed) }),
);

function detailsContradiction(shape: DetailsShape, observed: ObservedSwap): string | null {
  const { bin, position, zeroForOne } = readDetails(shape, observed.swap.details);
  const { cursor } = observed.after.head;
  if (bin !== cursor.bin) return `bin ${bin}, in storage ${cursor.bin}`;
  if (position !== cursor.position) return `position ${position}, in storage ${cursor.position}`;
  const flow = swapFlow(observed);
  if (flow && flow.zeroForOne !== zeroForOne) return `token${zeroForOne ? 0 : 1} in, by the amounts the other`;
  return null;
}
