import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { readInTurn } from '../read-in-turn.ts';
import { listedChains } from './listed-chains.ts';
import { type FoundRow, findStatement } from './listing-sql.ts';
import type { ListingQuery } from './query.ts';

/** A pool of the listing. */
export interface ListedPool {
  readonly chainId: number;
  readonly address: Address;
}

/** Finds the pools of a query, in the order of the listing. @throws ApiError 404 for an unknown release, 503 */
export async function findListed(
  database: pg.Pool,
  chains: readonly ChainConfig[],
  query: ListingQuery,
): Promise<readonly ListedPool[]> {
  // The version of a page, which the age is for, is not read.
  const statement = findStatement(query, listedChains(chains, query), 0);
  const { rows } = await readInTurn(database, (client) => client.query<FoundRow>(statement));
  const { chainIds, pools } = rows[0] ?? {};
  return (pools ?? []).map((address, n) => ({ chainId: Number(chainIds?.[n]), address: address as Address }));
}
