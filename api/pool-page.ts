import type { Context } from 'hono';
import type pg from 'pg';
import type { z } from 'zod';
import type { PoolDirectory, ServedPool } from '../quoting/pools/pool-directory.ts';
import { poolNotServed } from './errors.ts';
import { chainIdParam, clampSize, parseQuery, poolAddressParam, type ServedChains, servedChain } from './request.ts';

/** Dependencies of endpoints that list rows of one pool. */
export interface PoolPageDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  /** The replica, if there is one: rows are only read. */
  readonly database: pg.Pool;
}

interface PoolPageRequest<Query> {
  readonly pool: ServedPool;
  readonly query: Query;
  readonly limit: number;
}

/**
 * Reads the pool of the path, the query string and the size of the page.
 *
 * @param sizes `usual` without `limit` in the query, and the largest
 * @throws ApiError for the first error: 400 for path and query, 404 for a chain or pool that is not served
 */
export async function poolPageRequest<Schema extends z.ZodType<{ readonly limit?: number | undefined }>>(
  c: Context,
  { chains, directory }: Pick<PoolPageDeps, 'chains' | 'directory'>,
  schema: Schema,
  sizes: { readonly usual: number; readonly most: number },
): Promise<PoolPageRequest<z.output<Schema>>> {
  const chainId = chainIdParam(c);
  const address = poolAddressParam(c.req.param('pool_address') ?? '');
  const query = parseQuery(c, schema);
  const chain = servedChain(chains, chainId);
  const limit = clampSize(query.limit ?? sizes.usual, sizes.most, 'limit');
  const pool = (await directory.table()).find(chain.chainId, address);
  if (!pool) throw poolNotServed(address);
  return { pool, query, limit };
}
