import { Gauge, type Registry } from 'prom-client';
import type { BlockWarmer } from './block-warmer.ts';

/** Shows how many requested pools of each chain were not read at the last block, of how many. */
export function registerWarmMetrics(
  registry: Registry,
  warmers: ReadonlyMap<number, { readonly warmer: BlockWarmer }>,
): void {
  const gauge = (name: string, help: string, field: 'requested' | 'unread') =>
    new Gauge({
      name,
      help,
      labelNames: ['chain'] as const,
      registers: [registry],
      collect() {
        for (const [chainId, { warmer }] of warmers) this.set({ chain: String(chainId) }, warmer.coverage[field]);
      },
    });
  gauge('requested_pools', 'Pools that clients request, to be read at each new block', 'requested');
  gauge('requested_pools_unread', 'Requested pools that were not read at the last block', 'unread');
}
