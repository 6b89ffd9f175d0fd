import type { Context } from 'hono';
import { z } from 'zod';
import type { ChainConfig } from '../config/chains-schema.ts';
import { firstIssue } from '../config/load-chains.ts';
import { badQuery, badRequest, unknownChain } from './errors.ts';

/** Every endpoint that counts in a limit lies below it; an invalid key is refused all over it. */
export const PUBLIC_PREFIX = '/public/';

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

/** A whole number of a query string. */
export const Integer = z
  .string()
  .regex(/^[+-]?\d+$/, 'not an integer')
  .transform(Number);

/**
 * The number of things that a client requests, within the bounds that hold for it.
 *
 * @param least what less is taken for
 * @throws ApiError 400 when it is negative
 */
export function clampSize(value: number, most: number, name: string, least = 1): number {
  if (value < 0) throw badRequest(`${name} must not be negative`);
  return Math.min(Math.max(value, least), most);
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
