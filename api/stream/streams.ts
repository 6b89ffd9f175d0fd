import type { Registry } from 'prom-client';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import type { PoolWarmers } from '../../quoting/requested/pool-warmers.ts';
import type { SnapshotService } from '../../quoting/types.ts';
import type { Logger } from '../../runtime/logger.ts';
import { unavailable } from '../errors.ts';
import { ChainStream } from './chain-stream.ts';
import { Connections, startKeyChecks } from './connections.ts';
import { streamMetrics } from './metrics.ts';

export interface StreamsDeps {
  readonly chainIds: readonly number[];
  readonly config: StreamConfig;
  readonly warmers: Pick<PoolWarmers, 'of'>;
  readonly snapshots: SnapshotService;
  readonly directory: PoolDirectory;
  readonly database: Queryable;
  readonly metrics: Registry;
  readonly logger: Logger;
}

const TICK_MS = 1_000;

/** The streams of all chains of the configuration. */
export interface Streams {
  /**
   * The stream of a chain, ready for connections.
   *
   * @throws ApiError 503 when the process stops, and when the pools or the head are not known
   * @throws RangeError when the chain is not configured
   */
  ready(chainId: number): Promise<ChainStream>;
  readonly connections: Connections;
  /** Says `bye` to all and takes no more. */
  stop(): void;
}

/** Starts the streams, their heartbeats and the checks of their clients' keys. */
export function startStreams({ chainIds, config, database, logger, ...deps }: StreamsDeps): Streams {
  const connections = new Connections(config);
  const metrics = streamMetrics(deps.metrics, () => connections.byTransport, chainIds);
  const startStream = (chainId: number) => {
    const [warmer, snapshots] = [deps.warmers.of(chainId), deps.snapshots.of(chainId)];
    return new ChainStream({ chainId, warmer, snapshots, directory: deps.directory, metrics });
  };
  const streams = new Map(chainIds.map((chainId) => [chainId, startStream(chainId)]));
  const stopKeyChecks = startKeyChecks(connections, database, logger);
  const timer = setInterval(() => {
    for (const stream of streams.values()) stream.tick();
  }, TICK_MS).unref();
  let isClosed = false;
  return {
    async ready(chainId) {
      const stream = streams.get(chainId);
      if (!stream) throw new RangeError(`chain ${chainId} is not configured`);
      if (isClosed) throw unavailable(new Error('the process stops'));
      await stream.ready();
      return stream;
    },
    connections,
    stop() {
      isClosed = true;
      clearInterval(timer);
      stopKeyChecks();
      connections.end('shutdown');
    },
  };
}
