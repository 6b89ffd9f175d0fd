import { Gauge, type Registry } from 'prom-client';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { QuotesConfig } from '../../config/quotes-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PoolDirectory, ServedPool } from '../pools/pool-directory.ts';
import type { SnapshotService } from '../types.ts';
import { BlockWarmer, type BlockWarmerDeps } from './block-warmer.ts';
import { RequestedPools } from './requested-pools.ts';
import { WarmSchedule } from './warm-schedule.ts';

export interface PoolWarmersDeps {
  readonly chains: readonly ChainConfig[];
  readonly quotes: Pick<QuotesConfig, 'warmSecs'>;
  readonly snapshots: SnapshotService;
  readonly directory: PoolDirectory;
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly curveMethodOf: BlockWarmerDeps['curveMethodOf'];
  readonly metrics: Registry;
  readonly logger: Logger;
}

/** What clients request of a chain, and what reads it. */
export interface ChainWarmer {
  readonly requested: RequestedPools;
  readonly warmer: BlockWarmer;
  readonly schedule: WarmSchedule;
}

/** The requested pools of all chains of the configuration. */
export interface PoolWarmers {
  /** @throws RangeError when the chain is not configured */
  of(chainId: number): ChainWarmer;
  /** Reads no more. Resolves when the runs in progress are over. */
  stop(): Promise<void>;
}

/** What reads the requested pools of each chain once there are any. */
export function startPoolWarmers(deps: PoolWarmersDeps): PoolWarmers {
  const warmers = new Map(deps.chains.map((chain) => [chain.chainId, createChainWarmer(chain, deps)]));
  const gauge = (name: string, help: string, figure: keyof BlockWarmer['coverage']) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain'] as const,
      registers: [deps.metrics],
      collect() {
        for (const [chain, { warmer }] of warmers) this.set({ chain }, warmer.coverage[figure]);
      },
    });
  gauge('requested_pools', 'Pools that clients request, to be read at each new block', 'requested');
  gauge('requested_pools_unread', 'Requested pools that were not read at the last block', 'unread');
  return {
    of(chainId) {
      const found = warmers.get(chainId);
      if (!found) throw new RangeError(`chain ${chainId} is not configured`);
      return found;
    },
    stop: async () => {
      await Promise.all(warmers.values().map(({ warmer }) => warmer.close()));
    },
  };
}

function createChainWarmer(
  { chainId, warmBudget }: ChainConfig,
  { quotes, snapshots, directory, isFunded, curveMethodOf, logger }: PoolWarmersDeps,
): ChainWarmer {
  const schedule = new WarmSchedule({ ...warmBudget, isFunded });
  const requested = new RequestedPools({ warmMs: quotes.warmSecs * 1_000 });
  const ofChain = { chainId, requested, schedule, snapshots: snapshots.of(chainId), directory, curveMethodOf };
  return { requested, schedule, warmer: new BlockWarmer({ ...ofChain, logger: logger.child({ chainId }) }) };
}
