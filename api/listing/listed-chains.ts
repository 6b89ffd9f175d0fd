import type { ChainConfig } from '../../config/chains-schema.ts';
import { ApiError } from '../errors.ts';
import type { ListingQuery } from './query.ts';

/**
 * A chain of a listing and the factories whose pools it shows. They come from the configuration of this process, since
 * capture may have written the rows with another configuration.
 */
export type ListedChain = { readonly chainId: number; readonly factories: readonly string[] };

/**
 * Gives, for each chain, the factories whose pools a listing shows: those of enabled deployments, and only of the
 * requested release if the query names one.
 *
 * @throws ApiError 404 when none of the chains has that release enabled
 */
export function listedChains(
  chains: readonly ChainConfig[],
  { contractVersion }: Pick<ListingQuery, 'contractVersion'>,
): ListedChain[] {
  const listed = chains.map(({ chainId, deployments }) => {
    const shown = deployments.filter(
      (each) => each.enabled && (contractVersion === null || each.contractVersion === contractVersion),
    );
    return { chainId, factories: shown.map(({ poolFactory }) => poolFactory) };
  });
  if (contractVersion !== null && listed.every(({ factories }) => factories.length === 0)) {
    throw new ApiError(404, { error: `Unknown contract_version: ${contractVersion}` });
  }
  return listed;
}
