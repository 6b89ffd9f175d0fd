import { type SQL, sql } from 'drizzle-orm';
import type { Address } from 'viem';

/** Names a pool across chains; the address is lowercase. */
export type PoolId = { readonly chainId: number; readonly pool: Address };

/** Gives a pool's id as text, for keys of maps. */
export const poolKey = ({ chainId, pool }: PoolId): string => `${chainId}:${pool}`;

/** Makes a table of these pools, with columns `chain_id` and `address`. */
export function poolRows(pools: readonly PoolId[]): SQL {
  const chainIds = sql.param(pools.map(({ chainId }) => chainId));
  const addresses = sql.param(pools.map(({ pool }) => pool));
  return sql`unnest(${chainIds}::int8[], ${addresses}::text[]) AS k (chain_id, address)`;
}
