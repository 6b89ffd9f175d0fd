import type { Address } from 'viem';

/** `chainId:address`, lowercase: names a pool across chains. */
export type PoolKey = `${number}:${Address}`;

export const poolKey = (chainId: number, address: Address): PoolKey => `${chainId}:${address}`;

export function parsePoolKey(key: PoolKey): { readonly chainId: number; readonly pool: Address } {
  const separator = key.indexOf(':');
  return { chainId: Number(key.slice(0, separator)), pool: key.slice(separator + 1) as Address };
}

/** Keys as two lists of one length, for `unnest`. */
export function keyColumns(keys: readonly PoolKey[]) {
  const parsed = keys.map(parsePoolKey);
  return { chainIds: parsed.map(({ chainId }) => chainId), addresses: parsed.map(({ pool }) => pool) };
}
