import type { Registry } from 'prom-client';
import type { Basis } from '../../quoting/quote-basis.ts';
import type { ChainQuotes, QuotesByChain } from '../latest/chain-quotes.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { ChainStream } from './chain-stream.ts';
import { streamMetrics } from './metrics.ts';

export interface StreamsDeps {
  readonly latest: QuotesByChain;
  readonly sockets: Pick<Sockets, 'countTermination'>;
  readonly metrics: Registry;
}

export interface Streams {
  /** The streams of each chain. Without a source of live prices both are the same. */
  readonly chains: ReadonlyMap<number, Readonly<Record<Basis, ChainStream>>>;
  /** Ends the heartbeats. */
  stop(): void;
}

const TICK_MS = 1_000;

/** Starts the streams of all chains and their heartbeats. */
export function startStreams({ latest, sockets, metrics: registry }: StreamsDeps): Streams {
  const metrics = streamMetrics(registry, [...latest.keys()]);
  const open = (quotes: ChainQuotes) => new ChainStream({ quotes, metrics, sockets, now: () => performance.now() });
  const chains = new Map(
    [...latest].map(([chainId, { committed, live }]) => {
      const stream = open(committed);
      return [chainId, { committed: stream, live: live === committed ? stream : open(live) }];
    }),
  );
  const timer = setInterval(() => {
    for (const { committed, live } of chains.values()) for (const stream of new Set([committed, live])) stream.tick();
  }, TICK_MS).unref();
  return { chains, stop: () => clearInterval(timer) };
}
