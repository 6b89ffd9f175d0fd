import { Gauge, type Registry } from 'prom-client';
import { quotesOf } from '../open-chain.ts';
import { BASES } from '../quote-basis.ts';
import type { BlockWarmer } from './block-warmer.ts';

interface Warmed {
  readonly warmer: Pick<BlockWarmer, 'coverage'>;
}

/** Shows in metrics, for each chain and basis, how many pools are requested and how many of them were not read. */
export function showRequested(
  registry: Registry,
  chains: Iterable<Warmed & { readonly chainId: number; readonly liveQuotes: Warmed | undefined }>,
): void {
  const all = [...chains].flatMap((chain) => {
    const bases = chain.liveQuotes ? BASES : (['committed'] as const);
    return bases.map((basis) => ({ labels: { chain: chain.chainId, basis }, ...quotesOf<Warmed>(chain, basis) }));
  });
  const gauge = (name: string, help: string, figure: keyof BlockWarmer['coverage']) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain', 'basis'] as const,
      registers: [registry],
      collect() {
        for (const { labels, warmer } of all) this.set(labels, warmer.coverage[figure]);
      },
    });
  gauge('requested_pools', 'Pools that clients request, to be read at each new block', 'requested');
  gauge(
    'requested_pools_unread',
    'Requested pools that were not read at the last block, or not within maxAgeMs',
    'unread',
  );
}
