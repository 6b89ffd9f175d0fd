import { Gauge, type Registry } from 'prom-client';
import type { ChainLag } from './chain-lag.ts';

/** Name, help, and what to show of a chain; null shows nothing. */
const GAUGES: readonly (readonly [name: string, help: string, read: (lag: ChainLag) => number | null])[] = [
  ['indexing_block', 'Newest block of a chain that is indexed', (lag) => lag.indexedBlock],
  ['indexing_block_timestamp_seconds', 'Timestamp of the newest indexed block', (lag) => lag.indexedTimestamp],
  ['indexing_head_block', "Newest block that a chain's nodes tell of", (lag) => lag.headBlock],
  ['indexing_lag_blocks', 'Blocks from the indexed one to the head; negative after a rollback', (lag) => lag.lagBlocks],
  ['indexing_lag_seconds', 'Seconds between the timestamps of the indexed block and the head', (lag) => lag.lagSecs],
  ['indexing_stalled', '1 while the index of a chain does not follow it', (lag) => Number(lag.stalled)],
];

/** Gauges of the index, by chain, that read `lags` at each scrape. */
export function registerIndexingMetrics(registry: Registry, lags: () => readonly ChainLag[]): void {
  for (const [name, help, read] of GAUGES) {
    const gauge: Gauge<'chain'> = new Gauge({
      name,
      help,
      labelNames: ['chain'],
      registers: [registry],
      collect() {
        // A value that is no longer known must not stand as if it were.
        gauge.reset();
        for (const lag of lags()) {
          const value = read(lag);
          if (value !== null) gauge.set({ chain: String(lag.chainId) }, value);
        }
      },
    });
  }
}
