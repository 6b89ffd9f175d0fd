import { randomUUID } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { connectFailFast, connectQueueing } from '../../runtime/redis-connections.ts';
import type { PoolWarmers } from '../requested/pool-warmers.ts';
import { ChainReads } from './chain-reads.ts';
import { COMMAND_TIMEOUT_MS, namesOf, Seat } from './seat.ts';

/** By chain id. @throws RangeError when the chain is not configured */
export type SharedChains = (chainId: number) => ChainReads;

export interface SharedReadsDeps {
  readonly chains: readonly ChainConfig[];
  readonly reads: SharedChains;
  readonly warmers: Pick<PoolWarmers, 'of'>;
  readonly redisUrl: string;
  /** `QUEUE_PREFIX`. */
  readonly prefix: string;
  readonly metrics: Registry;
  readonly logger: Logger;
}

/** What this process shares of each chain; nothing before {@link startSharedReads}. */
export function createSharedChains(chains: readonly Pick<ChainConfig, 'chainId'>[]): SharedChains {
  const id = randomUUID();
  const byChain = new Map(chains.map(({ chainId }) => [chainId, new ChainReads(id)]));
  return (chainId) => {
    const found = byChain.get(chainId);
    if (!found) throw new RangeError(`chain ${chainId} is not configured`);
    return found;
  };
}

/**
 * Elects, of the processes with the same `QUEUE_PREFIX`, one for each chain that reads it for all. All that they say is
 * published by Redis and kept by none, but for the lease: whoever misses it reads the chain.
 */
export function startSharedReads({ chains, reads, warmers, metrics, logger, redisUrl, prefix }: SharedReadsDeps) {
  const redis = connectFailFast(redisUrl, logger, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A pipeline would wait until this process has decoded what it read.
    enableAutoPipelining: false,
  });
  const subscriber = connectQueueing(redisUrl, logger);
  const seats = chains.map((chain) => {
    const ofChain = reads(chain.chainId);
    const { requested, warmer } = warmers.of(chain.chainId);
    warmer.onResult((result) => {
      if (result?.kind === 'depths') ofChain.end(result.block);
    });
    const chainLogger = logger.child({ chainId: chain.chainId, pid: process.pid });
    return new Seat({
      reads: ofChain,
      requested,
      names: namesOf(chain, prefix),
      redis,
      subscriber,
      logger: chainLogger,
    });
  });
  subscriber.on('message', (channel, text) => {
    for (const seat of seats) seat.take(channel, text);
  });
  new Gauge({
    name: 'chain_leader',
    help: 'Processes that read a chain for all others',
    labelNames: ['chain'] as const,
    registers: [metrics],
    collect() {
      for (const { chainId } of chains) this.set({ chain: chainId }, Number(reads(chainId).isLeading));
    },
  });
  return {
    /** Leaves it to others at once. */
    async stop(): Promise<void> {
      await Promise.all(seats.map((seat) => seat.stop()));
      redis.disconnect();
      subscriber.disconnect();
    },
  };
}
