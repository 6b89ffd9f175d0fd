import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { ChainConfig } from '../../config/chains-schema.ts';
import { HexAddress } from '../../config/scalars.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { runMain } from '../../runtime/run-main.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../../test/quotes/served-pool.ts';
import { startStreamApi } from '../../test/stream/stream-api.ts';

/** What the bench hands its server in the environment. */
const Task = z.object({
  chain: ChainConfig,
  pools: z.array(z.object({ address: HexAddress, layout: z.enum(['flat', 'packed']) })),
  deployments: z.object({
    flat: z.custom<Parameters<typeof servedPool>[1]>(),
    packed: z.custom<Parameters<typeof servedPool>[1]>(),
  }),
});

/** A process of its own: the real streams and quotes of a chain with a source of live prices. It prints its port. */
runMain(async () => {
  const { chain, pools, deployments } = Task.parse(JSON.parse(process.env.BENCH_TASK ?? 'null'));
  const devChain = await connectDevChain(chain.rpcUrls[0] ?? '');
  const served = await Promise.all(
    pools.map(({ address, layout }) => servedPool(devChain, deployments[layout], address, 'mean', layout)),
  );
  const quotes = { ...stillQuotes, warmSecs: 1 };
  const stream = { connectionsPerAddress: 5_000 };
  const { base } = await startStreamApi({ chain, directory: fixedDirectory(served), quotes, stream });
  // A bench reads this to see what the process still holds.
  const heap = createServer((_, response) => response.end(`${heldBytes()}`)).listen(0, '127.0.0.1');
  await once(heap, 'listening');
  process.stdout.write(`${new URL(base).port} ${(heap.address() as AddressInfo).port}\n`);
});

/** Bytes of the heap after a collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
