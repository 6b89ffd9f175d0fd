import type { Context } from 'hono';
import type { Address } from 'viem';
import { badRequest, keyOrPoolsMissing } from '../errors.ts';
import { namedPools } from '../request.ts';
import { MAX_NAMED_POOLS } from './declaration.ts';

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
