import { Gauge, type Registry } from 'prom-client';
import type { BlockWarmer } from './block-warmer.ts';

/** Shows in metrics, for each chain, how many pools are requested and how many of them were not read. */
export function showRequested(
  registry: Registry,
  chains: Iterable<{ readonly chainId: number; readonly warmer: Pick<BlockWarmer, 'coverage'> }>,
): void {
  const all = [...chains];
  const gauge = (name: string, help: string, figure: keyof BlockWarmer['coverage']) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain'] as const,
      registers: [registry],
      collect() {
        for (const { chainId, warmer } of all) this.set({ chain: chainId }, warmer.coverage[figure]);
      },
    });
  gauge('requested_pools', 'Pools that clients request, to be read at each new block', 'requested');
  gauge('requested_pools_unread', 'Requested pools that were not read at the last block', 'unread');
}
