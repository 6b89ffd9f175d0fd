import type { ChainConfig } from '../../config/chains-schema.ts';
import { ApiError } from '../errors.ts';
import type { ServedChains } from '../request.ts';

/**
 * A chain of a listing and the factories whose pools it shows. They come from the configuration of this process, not from
 * the listing's rows, which capture may have written with another one.
 */
export type ListedChain = { readonly chainId: number; readonly factories: readonly string[] };

/** @param release null: every enabled one */
export function listedChain(chain: ChainConfig, release: string | null): ListedChain {
  const factories = enabledDeployments(chain, release).map(({ poolFactory }) => poolFactory);
  return { chainId: chain.chainId, factories };
}

/**
 * The served chains among those asked for.
 *
 * @param chainIds null: all
 */
export function askedChains(chains: ServedChains, chainIds: readonly number[] | null): readonly ChainConfig[] {
  return [...chains.values()].filter(({ chainId }) => chainIds === null || chainIds.includes(chainId));
}

/**
 * @param release null: not asked for
 * @throws ApiError 404 when the release is unknown or disabled on each of the chains
 */
export function assertReleaseServed(chains: readonly ChainConfig[], release: string | null): void {
  if (release === null || chains.some((chain) => enabledDeployments(chain, release).length > 0)) return;
  throw new ApiError(404, { error: `Unknown contract_version: ${release}` });
}

function enabledDeployments({ deployments }: ChainConfig, release: string | null) {
  return deployments.filter(
    ({ enabled, contractVersion }) => enabled && (release === null || contractVersion === release),
  );
}
