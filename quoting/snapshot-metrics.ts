import { Counter, type Registry } from 'prom-client';
import type { Address } from 'viem';
import type { CurveMethod, DropReason } from '../protocol/curve-search.ts';

/** How a search for the curve of a pool ended. */
export interface CurveReport {
  readonly pool: Address;
  /** `none`: the curve is unknown, since nothing that the pool shows explains its fees. */
  readonly method: CurveMethod | 'none';
  /** Why a formula no longer stands in for the pool; null when none was dropped. */
  readonly dropped: DropReason | null;
}

/** How a request got a pool's snapshot: from cache, from the read of another request, or from a read it started. */
export type SnapshotLookup = 'cached' | 'joined' | 'read';

/** Takes what happens to the snapshots of one chain. */
export interface SnapshotObserver {
  readonly lookup: (result: SnapshotLookup, count?: number) => void;
  /** A pool's guards did not do what their state says. */
  readonly guardsMismatched: () => void;
  readonly curve: (report: CurveReport) => void;
}

/** Makes observers that count in metrics what happens to the snapshots of each chain. */
export function snapshotMetrics(registry: Registry): (chainId: number) => SnapshotObserver {
  const counter = (name: string, help: string, label?: string) =>
    new Counter({ name, help, labelNames: label ? ['chain', label] : ['chain'], registers: [registry] });
  const lookups = counter(
    'snapshot_lookups_total',
    'Snapshots that requests needed, by source: cached, joined or read',
    'result',
  );
  // Should stay at 0, see `stopLossMark` of the chains file.
  const mismatches = counter(
    'guard_mismatches_total',
    'Reads of guarded pools in which simulated swaps contradicted the state of the guards',
  );
  const searches = counter(
    'curve_searches_total',
    'Reads of depth of pools whose fees are not public, by how the curve became known',
    'method',
  );
  const drops = counter('formula_drops_total', 'Formulas that no longer stand in for their pool, by reason', 'reason');
  return (chainId) => {
    const chain = String(chainId);
    // Each series is found once. Cached quotes are served by the ten thousand, and to find it costs more than to count.
    const [cached, joined, read] = ['cached', 'joined', 'read'].map((result) => lookups.labels({ chain, result }));
    const series = { cached, joined, read };
    mismatches.inc({ chain }, 0);
    return {
      lookup: (result, count = 1) => series[result]?.inc(count),
      guardsMismatched: () => mismatches.inc({ chain }),
      curve: ({ method, dropped }) => {
        searches.inc({ chain, method });
        if (dropped) drops.inc({ chain, reason: dropped });
      },
    };
  };
}
