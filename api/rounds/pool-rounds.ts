import type { ChainConfig } from '../../config/chains-schema.ts';
import type { QuotesConfig } from '../../config/quotes-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PoolDirectory, ServedPool } from '../snapshots/pool-directory.ts';
import type { SnapshotService } from '../snapshots/types.ts';
import { BlockRounds } from './block-rounds.ts';
import { PaidReads } from './paid-reads.ts';
import type { KnownRank } from './read-cost.ts';
import { TieredBudget } from './tiered-budget.ts';
import { WantedPools } from './wanted-pools.ts';

export interface PoolRoundsDeps {
  readonly chains: readonly ChainConfig[];
  readonly quotes: Pick<QuotesConfig, 'warmSecs'>;
  readonly snapshots: SnapshotService;
  readonly directory: PoolDirectory;
  readonly hasWorth: (pool: ServedPool) => boolean;
  /** How its curve became known last. */
  readonly rankOf: (pool: ServedPool) => KnownRank;
  readonly logger: Logger;
}

/** What clients want of a chain, and the rounds in which it is read. */
export interface ChainRounds {
  readonly wanted: WantedPools;
  readonly rounds: BlockRounds;
  readonly budget: Pick<TieredBudget, 'perMinute' | 'spent'>;
}

/** The wanted pools and rounds of all chains of the configuration. */
export class PoolRounds {
  readonly #chains: ReadonlyMap<number, ChainRounds>;

  constructor({ chains, quotes, snapshots, directory, hasWorth, rankOf, logger }: PoolRoundsDeps) {
    const make = ({ chainId, warmBudget }: ChainConfig): ChainRounds => {
      const budget = new TieredBudget(warmBudget);
      const paidReads = new PaidReads({ budget, hasWorth, rankOf });
      const wanted = new WantedPools({ warmMs: quotes.warmSecs * 1_000 });
      const ofChain = { chainId, wanted, snapshots: snapshots.of(chainId), directory };
      const rounds = new BlockRounds({ ...ofChain, paidReads, rankOf, logger: logger.child({ chainId }) });
      return { wanted, rounds, budget };
    };
    this.#chains = new Map(chains.map((chain) => [chain.chainId, make(chain)]));
  }

  /** @throws RangeError when the chain is not configured */
  of(chainId: number): ChainRounds {
    const found = this.#chains.get(chainId);
    if (!found) throw new RangeError(`chain ${chainId} is not configured`);
    return found;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#chains.values()].map(({ rounds }) => rounds.close()));
  }
}
