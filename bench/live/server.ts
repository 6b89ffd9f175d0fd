import { z } from 'zod';
import { ChainConfig } from '../../config/chains-schema.ts';
import { HexAddress } from '../../config/scalars.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../../test/quotes/served-pool.ts';
import { startStreamApi } from '../../test/stream/stream-api.ts';
import { serveMeasured } from '../serve-measured.ts';

const Task = z.object({
  chain: ChainConfig,
  pools: z.array(z.object({ address: HexAddress, layout: z.enum(['flat', 'packed']) })),
  deployments: z.object({
    flat: z.custom<Parameters<typeof servedPool>[1]>(),
    packed: z.custom<Parameters<typeof servedPool>[1]>(),
  }),
});

/** The real streams and quotes of a chain with a source of live prices. */
serveMeasured(async (task) => {
  const { chain, pools, deployments } = Task.parse(task);
  const devChain = await connectDevChain(chain.rpcUrls[0] ?? '');
  const served = await Promise.all(
    pools.map(({ address, layout }) => servedPool(devChain, deployments[layout], address, 'mean', layout)),
  );
  const quotes = { ...stillQuotes, warmSecs: 1 };
  const stream = { connectionsPerAddress: 5_000 };
  const { base } = await startStreamApi({ chain, directory: fixedDirectory(served), quotes, stream });
  return [Number(new URL(base).port)];
});
