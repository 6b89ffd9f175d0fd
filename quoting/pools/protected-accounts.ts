import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import type { PoolDirectory, PoolTable } from './pool-directory.ts';

/**
 * Gives the accounts whose storage no source of pending state may replace: pools, tokens, standard extensions and the
 * contracts of the chains file. With other overrides there a quote could be made to look right. Undefined while the
 * pools are not known, as before the first index. Other extensions are not among them: a pool of anyone may name as its
 * extension the account that holds the prices of others.
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
        const standard = extensions.filter(({ kind }) => kind !== 'custom');
        return [address, token0.address, token1.address, ...standard.map((extension) => extension.address)];
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

/** These accounts for a process without a directory of pools. @param chain with the contracts that were found */
export const accountsToProtect = (
  chain: Pick<ChainConfig, 'multicall3' | 'deployments'>,
  pools: readonly Readonly<Record<'address' | 'token0' | 'token1', Address>>[],
): ReadonlySet<Address> =>
  new Set([...configuredAccounts(chain), ...pools.flatMap(({ address, token0, token1 }) => [address, token0, token1])]);

/** The contracts that the chains file names. */
const configuredAccounts = ({ multicall3, deployments }: Pick<ChainConfig, 'multicall3' | 'deployments'>) => [
  multicall3,
  ...deployments.flatMap((deployment) => addressesIn(Object.values(deployment))),
];

const addressesIn = (values: readonly unknown[]): Address[] =>
  values.filter((value): value is Address => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));
