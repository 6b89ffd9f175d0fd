import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { isOpenToAnyone, type PoolDirectory, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { ResultCache } from '../../runtime/result-cache.ts';
import { badRequest } from '../errors.ts';
import { findListed } from '../listing/find-listed.ts';
import type { ListingQuery } from '../listing/query.ts';
import { MAX_WILDCARD_POOLS } from '../sockets/pool-lists.ts';
import type { LevelsQuery } from './levels-query.ts';

export interface ChooseDeps {
  readonly directory: PoolDirectory;
  /** The replica, if there is one. */
  readonly database: pg.Pool;
}

/**
 * Chooses the pools of a query that routes may use, in the order of the listing if it has one.
 *
 * @throws ApiError 400 when a client's filter leaves too many, 503, PoolsUnknownError
 */
export type ChoosePools = (
  chain: ChainConfig,
  query: Pick<LevelsQuery, 'pools' | 'listed' | 'isPublic'>,
) => Promise<readonly ServedPool[]>;

/**
 * Pools of the public frame for each call that the budget has in a minute, and their most: no more fit into a frame.
 */
const PUBLIC_POOLS_PER_CALL = 0.2;
const MAX_PUBLIC_POOLS = 300;

/** Those of the pools that all see who choose nothing: as many as the budget of the chain reads at each block. */
export const publicPools = (
  { warmBudget }: Pick<ChainConfig, 'warmBudget'>,
  found: readonly ServedPool[],
): readonly ServedPool[] =>
  found.slice(0, Math.min(MAX_PUBLIC_POOLS, Math.ceil(warmBudget.callsPerMinute * PUBLIC_POOLS_PER_CALL)));

/** Tiers and TVL are those of the listing, read again after this time. */
const KEEP_MS = 10_000;
const MAX_FILTERS = 200;

export function createPoolChooser({ directory, database }: ChooseDeps): ChoosePools {
  const found = new ResultCache<ReadonlySet<Address>>(MAX_FILTERS);
  const listedPools = (chain: ChainConfig, query: ListingQuery) => {
    const read = async () => {
      const pools = await findListed(database, [chain], { ...query, count: MAX_WILDCARD_POOLS + 1 });
      return new Set(pools.map(({ address }) => address));
    };
    return found.get(JSON.stringify([chain.chainId, query]), read, KEEP_MS);
  };
  return async (chain, { pools, listed, isPublic }) => {
    const table = await directory.table();
    const { chainId } = chain;
    const served = (addresses: Iterable<Address>) => [...addresses].flatMap((pool) => table.find(chainId, pool) ?? []);
    if (!listed) return (pools ? served(pools) : table.ofChain(chainId)).filter(isOpenToAnyone);
    const chosen = await listedPools(chain, { ...listed, addresses: pools });
    if (chosen.size > MAX_WILDCARD_POOLS && !isPublic)
      throw badRequest(`the filter leaves over ${MAX_WILDCARD_POOLS} pools: name those that you want`);
    return served(chosen).filter(isOpenToAnyone);
  };
}
