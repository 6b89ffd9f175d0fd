import { eq } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { poolExtensions } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import type { PoolDirectory, PoolTable } from './pool-directory.ts';

/**
 * Gives the accounts whose storage no source of pending state may replace: pools, tokens, extensions and the contracts
 * of the chains file. With other overrides there a quote could be made to look right. Undefined while the pools are not
 * known, as before the first index.
 */
export function protectedAccounts(
  chain: Pick<ChainConfig, 'chainId' | 'multicall3' | 'deployments'>,
  directory: PoolDirectory,
): () => ReadonlySet<Address> | undefined {
  const { chainId } = chain;
  const configured = configuredAccounts(chain);
  let table: PoolTable | undefined;
  // A request that needs the table reports why there is none.
  const askForTable = cacheResult(async () => {
    table = await directory.table().catch(() => undefined);
  }, 0);
  let known: { readonly version: unknown; readonly accounts: ReadonlySet<Address> } | undefined;
  return () => {
    if (!table) {
      void askForTable();
      return undefined;
    }
    const { version } = table.graph(chainId);
    if (known?.version !== version) {
      const ofPools = table.ofChain(chainId).flatMap(({ address, token0, token1, extensions }) => {
        return [address, token0.address, token1.address, ...extensions.map((extension) => extension.address)];
      });
      known = { version, accounts: new Set([...configured, ...ofPools]) };
    }
    return known.accounts;
  };
}

/**
 * Gives the contracts whose logs may tell of other quotes, as far as they are known: pools, their providers and
 * extensions, and the contracts of the chains file. Rejects while the pools are not known.
 */
export async function loggingAccounts(
  chain: Pick<ChainConfig, 'chainId' | 'multicall3' | 'deployments'>,
  directory: PoolDirectory,
): Promise<readonly Address[]> {
  const table = await directory.table();
  const ofPools = table
    .ofChain(chain.chainId)
    .flatMap(({ address, immutableProvider, extensions }) => [
      address,
      ...(immutableProvider ? [immutableProvider] : []),
      ...extensions.map((extension) => extension.address),
    ]);
  return [...new Set([...configuredAccounts(chain), ...ofPools])];
}

/** Reads these accounts for a process without a directory of pools. */
export async function readProtectedAccounts(
  database: Queryable,
  chain: Pick<ChainConfig, 'chainId' | 'multicall3' | 'deployments'>,
  pools: readonly Readonly<Record<'address' | 'token0' | 'token1', Address>>[],
): Promise<ReadonlySet<Address>> {
  const extensions = await queriesOn(database)
    .selectDistinct({ address: poolExtensions.address })
    .from(poolExtensions)
    .where(eq(poolExtensions.chainId, chain.chainId));
  const ofPools = pools.flatMap(({ address, token0, token1 }) => [address, token0, token1]);
  return new Set([...configuredAccounts(chain), ...ofPools, ...extensions.map(({ address }) => address)]);
}

/** The contracts that the chains file names. */
const configuredAccounts = ({ multicall3, deployments }: Pick<ChainConfig, 'multicall3' | 'deployments'>) => [
  multicall3,
  ...deployments.flatMap((deployment) => addressesIn(Object.values(deployment))),
];

const addressesIn = (values: readonly unknown[]): Address[] =>
  values.filter((value): value is Address => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));
