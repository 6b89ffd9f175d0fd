import { LRUCache } from 'lru-cache';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Address } from 'viem';
import type { CurveRank, DropReason } from '../../protocol/curve-search.ts';

/** How a search for the curve of a pool ended. */
export interface CurveReport {
  readonly pool: Address;
  readonly blockNumber: number;
  /** `none`: nothing that the pool shows explains its fees. */
  readonly rank: CurveRank | 'none';
  /** Why the formula that stood in for the pool does so no longer. */
  readonly dropped: DropReason | null;
  /** Why no cheaper rank served; null where there is none, or it is not known. */
  readonly whyNotCheaper: string | null;
}

export type CountCurve = (report: CurveReport) => void;

const RANKS = ['formula', 'fit', 'simulation', 'none'] as const;
const DROPS = ['code', 'prices', 'ambiguous'] as const;

/**
 * Tells how curves are known whose fees are not public: `curve_searches_total{chain, rank}` counts reads of depth,
 * `curve_pools{chain, rank}` the pools by the rank of their last one, `formula_drops_total{chain, reason}` the formulas that
 * no longer stand in for their pool.
 *
 * @param mostPools of so many pools the last rank is remembered, of those that were read last
 */
export function curveCounter(
  registry: Registry,
  chainIds: Iterable<number>,
  mostPools: number,
): (chainId: number) => CountCurve {
  const registers = [registry];
  const [chain, rank] = ['chain', 'rank'] as const;
  const searches = new Counter({
    name: 'curve_searches_total',
    help: 'Reads of depth of pools whose fees are not public, by how the curve became known',
    labelNames: [chain, rank],
    registers,
  });
  const pools = new Gauge({
    name: 'curve_pools',
    help: 'Pools whose fees are not public, by how their curve last became known',
    labelNames: [chain, rank],
    registers,
  });
  const drops = new Counter({
    name: 'formula_drops_total',
    help: 'Formulas that no longer stand in for their pool, by reason',
    labelNames: [chain, 'reason'] as const,
    registers,
  });
  for (const id of chainIds) {
    for (const of of RANKS) {
      searches.inc({ chain: id, rank: of }, 0);
      pools.set({ chain: id, rank: of }, 0);
    }
    for (const reason of DROPS) drops.inc({ chain: id, reason }, 0);
  }
  const last = new LRUCache<string, CurveReport['rank']>({
    max: mostPools,
    disposeAfter: (of, key, reason) => {
      if (reason === 'evict') pools.dec({ chain: key.slice(0, key.indexOf(':')), rank: of });
    },
  });
  return (chainId) => (report) => {
    const key = `${chainId}:${report.pool}`;
    const before = last.get(key);
    searches.inc({ chain: chainId, rank: report.rank });
    if (report.dropped) drops.inc({ chain: chainId, reason: report.dropped });
    last.set(key, report.rank);
    if (before === report.rank) return;
    if (before) pools.dec({ chain: chainId, rank: before });
    pools.inc({ chain: chainId, rank: report.rank });
  };
}
