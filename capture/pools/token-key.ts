import type { Address } from 'viem';

/** `chainId:address`, lowercase: names a token across chains, as the chains file does. */
export type TokenKey = `${number}:${string}`;

export function tokenKey(chainId: number, address: string): TokenKey {
  return `${chainId}:${address.toLowerCase()}`;
}

export function parseTokenKey(key: TokenKey): { readonly chainId: number; readonly address: Address } {
  const separator = key.indexOf(':');
  return { chainId: Number(key.slice(0, separator)), address: key.slice(separator + 1) as Address };
}
