import type { Context } from 'hono';
import type { z } from 'zod';
import type { ChainConfig } from '../config/chains-schema.ts';
import { firstIssue } from '../config/load-chains.ts';
import { badQuery, badRequest, unknownChain } from './errors.ts';

/** Chains by id, as the API serves them. */
export type ServedChains = ReadonlyMap<number, ChainConfig>;

/**
 * Reads `chain_id` from the path without looking the chain up, since a bad query must be reported before an unknown
 * chain is.
 *
 * @throws ApiError 400 when it is not a decimal integer
 */
export function chainIdParam(c: Context): string {
  const text = c.req.param('chain_id') ?? '';
  if (!/^\d+$/.test(text)) throw badRequest('chain_id must be an integer');
  return text;
}

/** @throws ApiError 404 `Unknown chainId: <id>` when the chain is not served */
export function servedChain(chains: ServedChains, chainId: string): ChainConfig {
  const chain = chains.get(Number(chainId));
  if (!chain) throw unknownChain(chainId);
  return chain;
}

/**
 * Parses the query string with a schema whose failures are syntax errors (an invalid number, a boolean other than
 * `true` or `false`). Of a repeated parameter the first counts.
 *
 * @throws ApiError 400, plain text
 */
export function parseQuery<S extends z.ZodType>(c: Context, schema: S): z.output<S> {
  const parsed = schema.safeParse(c.req.query());
  if (!parsed.success) throw badQuery(firstIssue(parsed.error));
  return parsed.data;
}
