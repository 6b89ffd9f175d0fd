import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { PoolTable } from './pool-directory.ts';

/**
 * Tells whether an account is one whose storage no source of pending state may replace: pools, tokens, extensions and
 * the contracts of the chains file. With other words there a quote could be made to look right.
 *
 * @param table undefined while the pools are not known: every account is protected then
 */
export function protectedAccounts(
  chain: Pick<ChainConfig, 'chainId' | 'multicall3' | 'deployments'>,
  table: () => PoolTable | undefined,
): (account: Address) => boolean {
  const { chainId } = chain;
  const configured = configuredAccounts(chain);
  let known: { readonly version: unknown; readonly accounts: ReadonlySet<Address> } | undefined;
  return (account) => {
    const pools = table();
    if (!pools) return true;
    const { version } = pools.graph(chainId);
    if (known?.version !== version) {
      const ofPools = pools.ofChain(chainId).flatMap(({ address, token0, token1, extensions }) => {
        return [address, token0.address, token1.address, ...extensions.map((extension) => extension.address)];
      });
      known = { version, accounts: new Set([...configured, ...ofPools]) };
    }
    return known.accounts.has(account);
  };
}

/** The contracts that the chains file names. */
export const configuredAccounts = ({ multicall3, deployments }: Pick<ChainConfig, 'multicall3' | 'deployments'>) => [
  multicall3,
  ...deployments.flatMap((deployment) => addressesIn(Object.values(deployment))),
];

const addressesIn = (values: readonly unknown[]): Address[] =>
  values.filter((value): value is Address => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));
