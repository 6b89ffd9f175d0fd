import { eq } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { poolExtensions } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { configuredAccounts } from '../../quoting/pools/protected-accounts.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';

/** Reads the accounts whose overrides no source of pending state may replace, as for quotes. */
export async function readProtectedAccounts(
  database: Queryable,
  chain: ChainConfig,
  pools: readonly Pick<KnownPool, 'address' | 'token0' | 'token1'>[],
): Promise<ReadonlySet<Address>> {
  const extensions = await queriesOn(database)
    .selectDistinct({ address: poolExtensions.address })
    .from(poolExtensions)
    .where(eq(poolExtensions.chainId, chain.chainId));
  const ofPools = pools.flatMap(({ address, token0, token1 }) => [address, token0, token1]);
  return new Set([...configuredAccounts(chain), ...ofPools, ...extensions.map(({ address }) => address)]);
}
