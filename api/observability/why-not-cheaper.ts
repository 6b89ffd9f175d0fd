import type { CurveKnowledge, DropReason, SearchStep } from '../../protocol/curve-search.ts';

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
  const noFormula = end.dropped ? DROPPED[end.dropped] : ofFormulas(end.known?.formulas);
  if (end.rank === 'fit') return noFormula;
  const noFit = 'no fit is proved by simulated swaps';
  return noFormula === null ? noFit : `${noFormula}; ${noFit}`;
}

function ofFormulas(formulas: CurveKnowledge['formulas'] | undefined): string | null {
  if (!formulas) return 'the pool fills too few swaps to try formulas';
  if (formulas.distrust !== null) return `a formula agrees with the pool, but ${formulas.distrust}`;
  return formulas.names.length === 0 ? 'no known formula agrees with the pool' : null;
}
