import type { Address } from 'viem';

/** `chainId:address`, lowercase: names a pool across chains. */
export type PoolKey = `${number}:${Address}`;

export const poolKey = (chainId: number, address: Address): PoolKey => `${chainId}:${address}`;

/** Keys as two lists of one length, for `unnest`. */
export function keyColumns(keys: Iterable<PoolKey>): { readonly chainIds: number[]; readonly addresses: Address[] } {
  const chainIds: number[] = [];
  const addresses: Address[] = [];
  for (const key of keys) {
    const separator = key.indexOf(':');
    chainIds.push(Number(key.slice(0, separator)));
    addresses.push(key.slice(separator + 1) as Address);
  }
  return { chainIds, addresses };
}
