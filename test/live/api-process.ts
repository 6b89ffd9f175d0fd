import { z } from 'zod';
import { ChainConfig } from '../../config/chains-schema.ts';
import { HexAddress } from '../../config/scalars.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { startStreamApi } from '../stream/stream-api.ts';

/** An API in a process of its own, which a test can kill. It prints its URL once it serves. */

const Task = z.object({
  chain: ChainConfig,
  /** Knows the pools. */
  chainUrl: z.string(),
  pools: z.array(z.object({ address: HexAddress, layout: z.enum(['flat', 'packed']) })),
  deployments: z.object({
    flat: z.custom<Parameters<typeof servedPool>[1]>(),
    packed: z.custom<Parameters<typeof servedPool>[1]>(),
  }),
  sharedBy: z.object({ redisUrl: z.string(), prefix: z.string() }),
});

const { chain, chainUrl, pools, deployments, sharedBy } = Task.parse(JSON.parse(process.env.API_PROCESS_TASK ?? ''));
const devChain = await connectDevChain(chainUrl);
const served = await Promise.all(
  pools.map(({ address, layout }) => servedPool(devChain, deployments[layout], address, 'mean', layout)),
);
const { base } = await startStreamApi({ chain, directory: fixedDirectory(served), sharedBy });
process.stdout.write(`serves ${base}\n`);
