import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Address } from 'viem';
import type { PoolTable } from '../../quoting/pools/pool-directory.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { badRequest, keyOrPoolsMissing } from '../errors.ts';
import { namedPools } from '../request.ts';

/** Most pools that a connection may name. */
export const MAX_NAMED_POOLS = 500;
/** Most listed pools of a chain that a client with a key may subscribe to without naming them. */
export const MAX_WILDCARD_POOLS = 2_000;

/** Which pools a stream or frame shows. */
export const poolsQuery = z
  .string()
  .optional()
  .openapi({
    example: EXAMPLE.pool,
    description: `1 to ${MAX_NAMED_POOLS} pool addresses in any case, with commas. Without it all listed pools; that takes a key.`,
  });

/**
 * Reads the pools that the query names; undefined when it names none.
 *
 * @throws ApiError 400, and 401 when it names none and the request has no key
 */
export function poolsParam(c: Context): Address[] | undefined {
  const text = c.req.query('pools');
  if (text === undefined && !c.get('key')) throw keyOrPoolsMissing();
  if (text === undefined) return undefined;
  const addresses = [...namedPools(text === '' ? [] : text.split(',')).keys()];
  if (addresses.length <= MAX_NAMED_POOLS) return addresses;
  throw badRequest(`pools names ${addresses.length} addresses; at most ${MAX_NAMED_POOLS} are allowed`);
}

/** @throws ApiError 400 when the chain lists more pools than a client may get without naming them */
export function assertWildcard(table: PoolTable, chainId: number): void {
  const count = table.ofChain(chainId).length;
  if (count > MAX_WILDCARD_POOLS) throw badRequest(`the chain lists ${count} pools: name those that you want`);
}
