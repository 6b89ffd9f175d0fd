import { Gauge, type Registry } from 'prom-client';
import type { OnBinsCompared } from './compare-bins.ts';

/** Shows pools whose events and storage differ as `pools_unlike_storage{chain}`. */
export function unlikeStorageGauge(registry: Registry): OnBinsCompared {
  const gauge = new Gauge({
    name: 'pools_unlike_storage',
    help: 'Pools whose bins, summed up from events, are not what their storage says',
    labelNames: ['chain'] as const,
    registers: [registry],
  });
  return (chainId, pools) => gauge.set({ chain: String(chainId) }, pools);
}
