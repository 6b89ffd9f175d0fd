import type { DropReason, SearchStep } from '../../protocol/curve-search.ts';

const DROPPED: Readonly<Record<DropReason, string>> = {
  code: 'the code of the pool or of its provider is another than the one that a formula agreed with',
  prices: 'the formula that stood in gave other prices than the pool',
  ambiguous: 'formulas that agreed with the pool differ by now',
};

/** Why no cheaper rank than that of this search served the pool; null for the cheapest, and where nothing was tried. */
export function whyNotCheaper(
  end: Extract<SearchStep, { readonly kind: 'curve' | 'sides' | 'failed' }>,
): string | null {
  if (end.kind === 'failed') return end.reason;
  if (end.rank === 'formula') return null;
  const noFormula = end.dropped ? DROPPED[end.dropped] : ofFormulas(end.known?.formulas?.names);
  if (end.rank === 'fit') return noFormula;
  const noFit = 'no fit is proved by simulated swaps';
  return noFormula === null ? noFit : `${noFormula}; ${noFit}`;
}

/** @param names formulas that agreed; undefined while none could be tried */
function ofFormulas(names: readonly string[] | undefined): string | null {
  if (names === undefined) return 'the pool fills too few swaps to try formulas';
  return names.length === 0 ? 'no known formula agrees with the pool, or its code may run that of others' : null;
}
