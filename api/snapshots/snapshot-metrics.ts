import { Counter, type Registry } from 'prom-client';

/** How a request came by a pool's snapshot: it was there, another request was reading it, or this one had it read. */
export type SnapshotLookup = 'cached' | 'joined' | 'read';

export type CountLookup = (chainId: number, lookup: SnapshotLookup) => void;

/** Counts lookups as `snapshot_lookups_total{chain, result}`: the share of `cached` is the hit rate. */
export function snapshotLookupCounter(registry: Registry, chainIds: Iterable<number>): CountLookup {
  const counter = new Counter({
    name: 'snapshot_lookups_total',
    help: 'Snapshots of pools that requests asked for, by how they were had',
    labelNames: ['chain', 'result'] as const,
    registers: [registry],
  });
  // Cached quotes are served by the ten thousand: finding a series by its labels would cost more than the count.
  const series = new Map(
    [...chainIds].map((chainId) => {
      const of = (result: SnapshotLookup) => counter.labels({ chain: String(chainId), result });
      return [chainId, { cached: of('cached'), joined: of('joined'), read: of('read') }] as const;
    }),
  );
  return (chainId, lookup) => series.get(chainId)?.[lookup].inc();
}

/** Told of each read in which a pool's guards did not do what their state says. */
export type CountGuardDisagreement = (chainId: number) => void;

/** Counts as `guard_disagreements_total{chain}`: should stay at 0, see `stopLossMark` of the chains file. */
export function guardDisagreementCounter(registry: Registry, chainIds: Iterable<number>): CountGuardDisagreement {
  const counter = new Counter({
    name: 'guard_disagreements_total',
    help: 'Reads of guarded pools in which simulated swaps contradicted the state of the guards',
    labelNames: ['chain'] as const,
    registers: [registry],
  });
  for (const chainId of chainIds) counter.inc({ chain: String(chainId) }, 0);
  return (chainId) => counter.inc({ chain: String(chainId) });
}
