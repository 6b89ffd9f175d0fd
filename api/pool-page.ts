import type { Context } from 'hono';
import type pg from 'pg';
import type { z } from 'zod';
import type { PoolDirectory } from '../quoting/pools/pool-directory.ts';
import { poolNotServed } from './errors.ts';
import { chainIdParam, clampSize, parseQuery, poolAddressParam, type ServedChains, servedChain } from './request.ts';

/** Dependencies of endpoints that list rows of one pool. */
export interface PoolPageDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  /** The replica, if there is one: rows are only read. */
  readonly database: pg.Pool;
}

/**
 * Reads the pool of the path, the query string and the size of the page.
 *
 * @param most largest size of a page
 * @throws ApiError for the first error: 400 for path and query, 404 for a chain or pool that is not served
 */
export async function poolPageRequest<Schema extends z.ZodType<{ readonly limit: number }>>(
  c: Context,
  { chains, directory }: Pick<PoolPageDeps, 'chains' | 'directory'>,
  schema: Schema,
  most: number,
) {
  const chainId = chainIdParam(c);
  const address = poolAddressParam(c.req.param('pool_address') ?? '');
  const query = parseQuery(c, schema);
  const chain = servedChain(chains, chainId);
  const limit = clampSize(query.limit, most, 'limit');
  const pool = (await directory.table()).find(chain.chainId, address);
  if (!pool) throw poolNotServed(address);
  return { pool, query, limit };
}
