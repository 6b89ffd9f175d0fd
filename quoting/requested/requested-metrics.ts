import { Gauge, type Registry } from 'prom-client';
import type { BlockWarmer } from './block-warmer.ts';

/** The pools that clients request of a chain on one basis. */
export interface RequestedOf {
  readonly chain: number;
  readonly basis: 'live' | 'committed';
  readonly warmer: Pick<BlockWarmer, 'coverage'>;
}

/** Shows in metrics, for each chain and basis, how many pools are requested and how many of them were not read. */
export function showRequested(registry: Registry, all: readonly RequestedOf[]): void {
  const gauge = (name: string, help: string, figure: keyof BlockWarmer['coverage']) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain', 'basis'] as const,
      registers: [registry],
      collect() {
        for (const { warmer, ...labels } of all) this.set(labels, warmer.coverage[figure]);
      },
    });
  gauge('requested_pools', 'Pools that clients request, to be read at each new block', 'requested');
  gauge(
    'requested_pools_unread',
    'Requested pools that were not read at the last block, or not within maxAgeMs',
    'unread',
  );
}
