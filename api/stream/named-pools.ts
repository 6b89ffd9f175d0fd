import type { Address } from 'viem';
import type { StreamConfig } from '../../config/stream-schema.ts';
import { badRequest } from '../errors.ts';
import { eachPoolOnce } from '../quotes/bid-ask-batch.ts';
import type { PoolTable } from '../snapshots/pool-directory.ts';
import type { Subscription } from './types.ts';

/**
 * The addresses of a list, each once.
 *
 * @throws ApiError 400
 */
export function distinctAddresses(pools: readonly string[]): Address[] {
  return eachPoolOnce(pools).map(({ address }) => address);
}

/** What is served of these pools, and what is not. */
export function namedPools(
  table: PoolTable,
  chainId: number,
  addresses: readonly Address[],
): Pick<Subscription, 'unknown'> & { readonly pools: Exclude<Subscription['pools'], 'all'> } {
  const found = addresses.map((address) => ({ address, pool: table.find(chainId, address) }));
  return {
    pools: found.flatMap(({ pool }) => pool ?? []),
    unknown: found.flatMap(({ address, pool }) => (pool ? [] : address)),
  };
}

/** @throws ApiError 400 when the chain lists more than may go unnamed */
export function allPools(
  table: PoolTable,
  chainId: number,
  { maxPoolsUnnamed }: StreamConfig,
): Pick<Subscription, 'pools'> {
  const count = table.ofChain(chainId).length;
  if (count > maxPoolsUnnamed) throw badRequest(`the chain lists ${count} pools: name those that you want`);
  return { pools: 'all' };
}
