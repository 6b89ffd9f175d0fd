import { Counter, type Registry } from 'prom-client';
import type { Address } from 'viem';
import type { CurveRank, DropReason } from '../../protocol/curve-search.ts';

/** How a search for the curve of a pool ended. */
export interface CurveReport {
  readonly pool: Address;
  /** `none`: nothing that the pool shows explains its fees. */
  readonly rank: CurveRank | 'none';
  /** Why the formula that stood in for the pool does so no longer. */
  readonly dropped: DropReason | null;
}

export type CountCurve = (report: CurveReport) => void;

const RANKS = ['formula', 'fit', 'simulation', 'none'] as const;
const DROPS = ['code', 'prices', 'ambiguous'] as const;

/**
 * Counts how curves became known whose fees are not public: `curve_searches_total{chain, rank}` reads of depth,
 * `formula_drops_total{chain, reason}` formulas that no longer stand in for their pool.
 */
export function curveCounter(registry: Registry, chainIds: Iterable<number>): (chainId: number) => CountCurve {
  const searches = new Counter({
    name: 'curve_searches_total',
    help: 'Reads of depth of pools whose fees are not public, by how the curve became known',
    labelNames: ['chain', 'rank'] as const,
    registers: [registry],
  });
  const drops = new Counter({
    name: 'formula_drops_total',
    help: 'Formulas that no longer stand in for their pool, by reason',
    labelNames: ['chain', 'reason'] as const,
    registers: [registry],
  });
  for (const chain of chainIds) {
    for (const rank of RANKS) searches.inc({ chain, rank }, 0);
    for (const reason of DROPS) drops.inc({ chain, reason }, 0);
  }
  return (chain) =>
    ({ rank, dropped }) => {
      searches.inc({ chain, rank });
      if (dropped) drops.inc({ chain, reason: dropped });
    };
}
