import type { Context } from 'hono';
import type { Address } from 'viem';
import { z } from 'zod';
import type { ChainConfig } from '../config/chains-schema.ts';
import { firstIssue } from '../config/load-chains.ts';
import { BASES, type Basis } from '../quoting/quote-basis.ts';
import { badQuery, badRequest, unknownChain } from './errors.ts';
import { parseAddress } from './hex.ts';

/**
 * All endpoints that count in a limit lie below it. An invalid key is rejected below it, but not by paths of takers.
 */
export const PUBLIC_PREFIX = '/public/';
/** JSON-RPC lies below it, with a chain. */
export const RPC_PREFIX = '/rpc/';
/** What listing sites read lies below it. */
export const ADAPTERS_PREFIX = '/adapters/';

const TAKERS_PATH = /^\/(?:rpc\/|public\/v1\/evm\/[^/]+\/(?:price_levels|ws\/pamm_\w+)$)/;
/** Whether takers read a path with the programs of other services, where a key that is not valid is as none. */
export const isTakersPath = (path: string): boolean => TAKERS_PATH.test(path);

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
export function servedChain<C>(chains: ReadonlyMap<number, C>, chainId: string): C {
  const chain = chains.get(Number(chainId));
  if (!chain) throw unknownChain(chainId);
  return chain;
}

/** @throws ApiError 400 that says what is wrong with the address of the path */
export function poolAddressParam(text: string): Address {
  const address = parseAddress(text);
  if (address) return address;
  const hasPrefix = /^0x/i.test(text);
  throw badRequest(hasPrefix ? 'Invalid pool address format' : 'pool_address is not a valid EVM address');
}

/** A whole number of a query string. */
export const Integer = z
  .string()
  .regex(/^[+-]?\d+$/, 'not an integer')
  .transform(Number);

/**
 * Brings the number of things that a client requests within its bounds.
 *
 * @param least replaces a smaller number
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

/** @throws ApiError 400, plain text, unless it is absent, `true` or `false` */
export function depthParam(c: Context): boolean {
  const text = c.req.query('depth') ?? 'true';
  if (text !== 'true' && text !== 'false') throw badQuery('depth: expected true or false');
  return text === 'true';
}

/** Reads a value that is one of a few. @throws ApiError 400 that names them */
export function oneOf<T extends string>(value: string, allowed: readonly T[], name: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw badRequest(`${name} must be one of ${allowed.join(', ')}`);
  return found;
}

/** @throws ApiError 400 unless it is absent or a basis */
export const basisParam = (c: Context): Basis => oneOf(c.req.query('basis') ?? 'live', BASES, 'basis');

/** Whether the query asks for `include=stateOverride`. @throws ApiError 400 unless it is absent or asks for that */
export function includeParam(c: Context): boolean {
  const text = c.req.query('include');
  if (text !== undefined && text !== 'stateOverride') throw badRequest('include must be stateOverride');
  return text !== undefined;
}

/**
 * Reads a list of pools. Of repeated pools it keeps the first position, with the spelling at that position.
 *
 * @throws ApiError 400 when there are none, or one is not an address
 */
export function namedPools(pools: readonly string[]): ReadonlyMap<Address, string> {
  if (pools.length === 0) throw badRequest('pools must name at least one pool address');
  const spellings = new Map<Address, string>();
  for (const [index, spelling] of pools.entries()) {
    const address = parseAddress(spelling);
    if (!address) throw badRequest(`pools[${index}] is not a valid pool address`);
    if (!spellings.has(address)) spellings.set(address, spelling);
  }
  return spellings;
}
