import { completeChain } from '../../db/complete-chain.ts';
import { readFoundContracts } from '../../db/found-contracts.ts';
import { type CaptureChain, type CaptureDeps, wallClock } from '../capture-chain.ts';
import { adaptive, type Job } from '../job.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { classify } from './classify.ts';
import { listingVersion } from './listing-version.ts';
import { refreshListing } from './refresh-listing.ts';

/** The listing of all pools, by the contracts of the served index, those that the indexer found as well. */
export function listingJobs({ file, database, fiatMaxAgeSecs }: CaptureDeps, chains: readonly CaptureChain[]): Job[] {
  const blockFinders = new Map(chains.map(({ chainId, findBlockAt }) => [chainId, findBlockAt]));
  const run = async () => {
    const found = await readFoundContracts(database);
    const completed = { ...file, chains: file.chains.map((chain) => completeChain(chain, found)) };
    return refreshListing({
      database,
      fiatMaxAgeSecs,
      fiatSource: file.fiatPrices.source,
      classify,
      wallClock,
      registry: createRegistry(completed),
      version: listingVersion(completed),
      // The served index still has a chain that was removed from the configuration, until a new index replaces it.
      findBlockAt: async (timestamp, indexed) =>
        (await blockFinders.get(indexed.chainId)?.(timestamp, indexed)) ?? indexed.number,
    });
  };
  return [{ name: 'listing', run, ...adaptive(2), afterOthers: true }];
}
