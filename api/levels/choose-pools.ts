import type pg from 'pg';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { isOpenToAnyone, type PoolDirectory, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { ResultCache } from '../../runtime/result-cache.ts';
import { listedChains } from '../metadata/listed-chains.ts';
import { type FoundRow, findStatement } from '../metadata/listing-sql.ts';
import type { ListingQuery } from '../metadata/query.ts';
import { readInTurn } from '../read-in-turn.ts';
import { MAX_WILDCARD_POOLS } from '../sockets/pool-lists.ts';
import type { LevelsQuery } from './levels-query.ts';

export interface ChooseDeps {
  readonly directory: PoolDirectory;
  /** The replica, if there is one. */
  readonly database: pg.Pool;
}

/** Chooses the pools of a query that routes may use. @throws ApiError 503, PoolsUnknownError */
export type ChoosePools = (
  chain: ChainConfig,
  query: Pick<LevelsQuery, 'pools' | 'listed'>,
) => Promise<readonly ServedPool[]>;

/** Tiers and TVL are those of the listing, read again after this time. */
const KEEP_MS = 10_000;
const MAX_FILTERS = 200;

export function createPoolChooser({ directory, database }: ChooseDeps): ChoosePools {
  const found = new ResultCache<ReadonlySet<string>>(MAX_FILTERS);
  const listedPools = (chain: ChainConfig, query: ListingQuery) => {
    const statement = findStatement({ ...query, count: MAX_WILDCARD_POOLS }, listedChains([chain], query), 0);
    const read = () =>
      readInTurn(database, async (client) => new Set((await client.query<FoundRow>(statement)).rows[0]?.pools));
    return found.get(JSON.stringify([chain.chainId, query]), read, KEEP_MS);
  };
  return async (chain, { pools, listed }) => {
    const table = await directory.table();
    const { chainId } = chain;
    const named = pools?.flatMap((pool) => table.find(chainId, pool) ?? []) ?? table.ofChain(chainId);
    const open = named.filter(isOpenToAnyone);
    if (!listed) return open;
    const chosen = await listedPools(chain, { ...listed, addresses: pools });
    return open.filter(({ address }) => chosen.has(address));
  };
}
