import type { Address } from 'viem';
import { evenBins } from '../../devnet/pools.ts';
import { chainConfig, makePool, quoteWorld, type WorldPool } from '../quotes/quote-world.ts';
import { directoryOf } from '../quotes/served-pool.ts';
import { type StreamApiOptions, startStreamApi } from './stream-api.ts';

/** For one test file: a chain with three pools, and an API that streams them. */
export const streamWorld = () =>
  quoteWorld(async (on, ends) => {
    const spec = { pair: await on.pair(18, 6), price: 2_000, bins: evenBins(-2, 2, 1_000) };
    const make = () => makePool(on, spec);
    const pools: readonly [WorldPool, WorldPool, WorldPool] = [await make(), await make(), await make()];
    const names = pools.map(({ address }) => address);
    const chain = chainConfig(on.chain.chainId, [on.anvil.url], { blockTimeMs: 200 });
    const directory = await directoryOf(on, names);
    const startApi = (options: Partial<StreamApiOptions> = {}) => startStreamApi({ chain, directory, ...options });
    const api = await startApi();
    ends.defer(api.stop);
    return {
      pools,
      names,
      table: await directory.table(),
      api,
      /** Another API over the same pools, which the caller stops. */
      startApi,
      blockNow: async () => Number(await on.chain.client.getBlockNumber()),
      /** What REST says of a pool now. */
      restQuote: async (pool: Address, depth = true) =>
        (await fetch(`${api.base}/${pool}/bid_ask?depth=${depth}`)).json() as Promise<Record<string, unknown>>,
    };
  });

/** A quote as it is compared. */
export const withoutTime = (quote: object | undefined) => ({ ...quote, serverTs: 0 });
