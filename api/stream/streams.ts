import type { Registry } from 'prom-client';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ChainStream, type StreamedChain, type StreamedQuotes } from './chain-stream.ts';
import { Connections, startKeyChecks } from './connections.ts';
import { streamMetrics } from './metrics.ts';

export interface StreamsDeps {
  readonly chains: ReadonlyMap<number, StreamedChain & { readonly liveQuotes?: StreamedQuotes | undefined }>;
  readonly config: StreamConfig;
  readonly directory: PoolDirectory;
  readonly database: Queryable;
  readonly metrics: Registry;
  readonly logger: Logger;
}

const TICK_MS = 1_000;

export interface Streams {
  /** The streams of each chain. Without a source of live prices both are the same. */
  readonly chains: ReadonlyMap<number, Readonly<Record<Basis, ChainStream>>>;
  readonly connections: Connections;
  /** Sends `bye` to all clients and takes no more connections. */
  stop(): void;
}

/** Starts the streams of all chains, their heartbeats and the checks of their clients' keys. */
export function startStreams({ chains, config, directory, database, logger, ...deps }: StreamsDeps): Streams {
  const connections = new Connections(config);
  const metrics = streamMetrics(deps.metrics, () => connections.byTransport, [...chains.keys()]);
  const streams = new Map(
    [...chains].map(([chainId, { liveQuotes, ...chain }]) => {
      const committed = new ChainStream({ chain, directory, metrics });
      const live = liveQuotes && new ChainStream({ chain: { chainId, ...liveQuotes }, directory, metrics });
      return [chainId, { committed, live: live ?? committed }];
    }),
  );
  const stopKeyChecks = startKeyChecks(connections, database, logger);
  const timer = setInterval(() => {
    for (const { committed, live } of streams.values()) for (const stream of new Set([committed, live])) stream.tick();
  }, TICK_MS).unref();
  return {
    chains: streams,
    connections,
    stop() {
      clearInterval(timer);
      stopKeyChecks();
      connections.end('shutdown');
    },
  };
}
