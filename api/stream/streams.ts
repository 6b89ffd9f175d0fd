import type { Registry } from 'prom-client';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { unavailable } from '../errors.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import type { SnapshotService } from '../snapshots/types.ts';
import type { PoolWarmers } from '../warming/pool-warmers.ts';
import { ChainStream } from './chain-stream.ts';
import { type ConnectionBounds, ConnectionLimits } from './connection-limits.ts';
import { startKeyChecks } from './key-checks.ts';
import { streamMetrics } from './metrics.ts';

export interface StreamsDeps {
  readonly chainIds: readonly number[];
  readonly config: ConnectionBounds;
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
   * @throws RangeError when the chain is not configured
   * @throws ApiError 503 when the process stops
   */
  of(chainId: number): ChainStream;
  readonly limits: ConnectionLimits;
  /** Counts a client that was terminated because it answered no pings. */
  readonly countSilent: (chainId: number) => void;
  /** Says `bye` to all and takes no more. */
  stop(): void;
}

/** Starts the streams, their heartbeats and the checks of their clients' keys. */
export function startStreams({
  chainIds,
  config,
  warmers,
  snapshots,
  database,
  metrics,
  logger,
  ...deps
}: StreamsDeps): Streams {
  const limits = new ConnectionLimits(config);
  const { observerOf, countSilent } = streamMetrics(metrics, limits, chainIds);
  const startStream = (chainId: number) =>
    new ChainStream({
      ...deps,
      chainId,
      warmer: warmers.of(chainId),
      snapshots: snapshots.of(chainId),
      observer: observerOf(chainId),
    });
  const streams = new Map(chainIds.map((chainId) => [chainId, startStream(chainId)]));
  const stopKeyChecks = startKeyChecks(limits, database, logger);
  const timer = setInterval(() => {
    for (const stream of streams.values()) stream.tick();
  }, TICK_MS).unref();
  let isClosed = false;
  return {
    of(chainId) {
      const stream = streams.get(chainId);
      if (!stream) throw new RangeError(`chain ${chainId} is not configured`);
      if (isClosed) throw unavailable(new Error('the process stops'));
      return stream;
    },
    limits,
    countSilent,
    stop() {
      isClosed = true;
      clearInterval(timer);
      stopKeyChecks();
      for (const stream of streams.values()) stream.close('shutdown');
    },
  };
}
