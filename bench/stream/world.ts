import { timeRequest } from '../../test/abuse/timed-request.ts';
import { chainsFile } from '../../test/many-pools/chains-file.ts';
import { fillIndex } from '../../test/many-pools/seed.ts';
import { type StreamChain, startStreamChain } from '../../test/many-pools/stream-chain.ts';
import { type MeasuredProcess, type ServiceSetup, startMeasuredService } from '../measured-process.ts';
import { type Stores, startStores } from '../stores.ts';

/** Chains, and stores whose index has their pools. */
export interface StreamWorld {
  readonly stores: Stores;
  readonly chains: readonly [StreamChain, ...StreamChain[]];
  /** Starts one of our processes, by default the API, over them. @param warmSecs of its quotes */
  readonly serve: (warmSecs?: number, main?: ServiceSetup['main']) => Promise<MeasuredProcess>;
}

export interface StreamWorldOptions {
  /** Of groups of pools. */
  readonly sizes?: readonly number[];
  /** Whether nodes push heads. */
  readonly hasSockets?: boolean;
}

export async function startStreamWorld(
  chainIds: readonly number[],
  { sizes, hasSockets = false }: StreamWorldOptions = {},
): Promise<StreamWorld> {
  const [stores, ...chains] = await Promise.all([
    startStores(),
    ...chainIds.map((chainId) => startStreamChain(chainId, sizes)),
  ]);
  await fillIndex(stores.postgres.url, chains);
  const serve = (warmSecs?: number, main: ServiceSetup['main'] = 'api') => {
    const { chains: entries, ...file } = chainsFile(chains, ({ node }) => node.url, warmSecs);
    const sockets = chains.map(({ world }) => world.anvil.url.replace('http', 'ws'));
    const chainsFileContent = {
      ...file,
      // What is measured is the stream, not what an operator pays for.
      chains: entries.map((entry, index) => ({
        ...entry,
        wsUrls: hasSockets ? sockets.slice(index, index + 1) : [],
        warmBudget: { callsPerMinute: 1_000_000 },
      })),
      stream: { connectionsPerAddress: 5_000 },
    };
    const [{ chainId, pools }] = chains as [StreamChain];
    const quote = `/public/v1/evm/${chainId}/${pools[0]?.[0]}/bid_ask`;
    return startMeasuredService({
      main,
      stores,
      databaseUrl: stores.postgres.url,
      chainsFile: chainsFileContent,
      isServing: async (url) => main === 'capture' || (await timeRequest(url, { path: quote })).status === 200,
    });
  };
  return { stores, chains: chains as [StreamChain, ...StreamChain[]], serve };
}
