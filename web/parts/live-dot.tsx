import type { Quote } from '../api.ts';
import { count } from '../format.ts';

/** Marks a price of the block that is being built. */
export function LiveDot({ quote }: { readonly quote: Quote | null }) {
  if (quote?.basis?.kind !== 'live') return null;
  return (
    <span class="live" title={`Live in block ${count(quote.basis.targetBlockNumber)}, which is being built`}>
      <span class="offscreen">live</span>
    </span>
  );
}
