import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadChainsFile } from '../../config/load-chains.ts';
import { openGateway } from '../../indexer/gateway/gateway.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { runBench } from '../run-bench.ts';
import { type IndexRun, type ROOTS, runIndex } from './index-run.ts';
import { measureLatency } from './latency.ts';
import { type BenchChain, dropSchema, measureReading, silentGateway } from './reading.ts';
import { printIndexing, printLatency, printReading } from './report.ts';
import { addTraffic, BLOCK_TIME_SECS, isLayout, type LoadedChain, startChain } from './workload.ts';

const CHAIN_IDS = [31337, 31338];

runBench({
  name: 'indexing',
  description:
    'Indexes swaps of many pools on two local chains from a warm log cache into new schemas, by the real handlers and by ' +
    'empty ones in turn: events a second, their ratio, and peak memory at half of the events and at all. Then follows ' +
    'the chains while single swaps come, and prints how long they take to show. Last, it reads all from the nodes again: ' +
    'from one, and from two whose answers are compared.',
  options: {
    layout: ['of the pools: flat or packed', 'flat'],
    events: ['events of pools, on all chains together', 100_000],
    pools: ['pools, on all chains together', 200],
    rounds: ['runs of each kind, of which the median counts', 5],
    swaps: ['swaps that are timed, at most one a pool; 0 leaves them out', 120],
  },
  run: async ({ layout, events, pools, rounds, swaps }, verdicts) => {
    if (!isLayout(layout)) throw new RangeError(`no layout ${layout}: flat or packed`);
    const [{ url: databaseUrl }, folder] = await Promise.all([startPostgres(), createTempFolder('bench-indexing')]);
    const chains = await Promise.all(CHAIN_IDS.map((chainId) => startChain(chainId, pools / CHAIN_IDS.length, layout)));
    const chainsFile = join(folder.path, 'chains.json');
    await writeFile(chainsFile, JSON.stringify({ chains: chains.map(chainEntry) }));
    const { url: gatewayUrl } = await openGateway(loadChainsFile(chainsFile).chains, silentGateway());
    const run = async (root: keyof typeof ROOTS, schema: string) => {
      const result = await runIndex({ root, schema, databaseUrl, chainsFile, gatewayUrl });
      await dropSchema(databaseUrl, schema);
      return result;
    };
    const compared = await compare(chains, run, events, rounds);
    printIndexing({ layout, ...compared }, verdicts);
    const read = { chains: chains.map(chainEntry), folder: folder.path, databaseUrl, rounds };
    printReading({ events: compared.all, pairs: await measureReading(read) }, verdicts);
    if (swaps > 0) printLatency(await measureLatency(chains, { databaseUrl, chainsFile, swaps }));
  },
});

/** Every kind of run is warm: the first one of all takes the logs from the node and leaves them in the cache. */
async function compare(
  chains: readonly LoadedChain[],
  run: (root: keyof typeof ROOTS, schema: string) => Promise<IndexRun>,
  events: number,
  rounds: number,
) {
  const half = await addToAll(chains, events / 2);
  await run('real', 'warm_half');
  const atHalf = await repeat(rounds, (round) => run('real', `half_${round}`));
  const all = half + (await addToAll(chains, events - half));
  await run('real', 'warm_all');
  const empty: IndexRun[] = [];
  // In turn, so that what else the machine does falls on both.
  const real = await repeat(rounds, async (round) => {
    empty.push(await run('empty', `empty_${round}`));
    return run('real', `real_${round}`);
  });
  return { half, all, atHalf, real, empty };
}

async function repeat<T>(times: number, run: (round: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round < times; round++) results.push(await run(round));
  return results;
}

async function addToAll(chains: readonly LoadedChain[], events: number): Promise<number> {
  const counts = await Promise.all(chains.map((chain) => addTraffic(chain, events / chains.length)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function chainEntry({ anvil, chain, layout, deployment, multicall3 }: LoadedChain): BenchChain {
  const { fromBlock, poolFactory, stopLoss, priceVelocityGuard } = deployment;
  return {
    chainId: chain.chainId,
    name: `bench-${chain.chainId}`,
    rpcUrls: [anvil.url],
    multicall3,
    blockTimeMs: BLOCK_TIME_SECS * 1_000,
    deployments: [{ contractVersion: 'v1', layout, fromBlock, poolFactory, stopLoss, priceVelocityGuard }],
  };
}
