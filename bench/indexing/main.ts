import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import pg from 'pg';
import { loadChainsFile } from '../../config/load-chains.ts';
import { type Gateway, openGateway } from '../../indexer/gateway/gateway.ts';
import { pollingIntervalMs } from '../../indexer/gateway/polling-interval.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createLogger } from '../../runtime/logger.ts';
import { runMain } from '../../runtime/run-main.ts';
import { type IndexRun, type ROOTS, runIndex } from './index-run.ts';
import { measureLatency } from './latency.ts';
import { printIndexing, printLatency } from './report.ts';
import { addTraffic, BLOCK_TIME_SECS, type Layout, type LoadedChain, startChain } from './workload.ts';

const CHAIN_IDS = [31337, 31338];

interface Options {
  readonly layout: Layout;
  readonly events: number;
  readonly pools: number;
  readonly rounds: number;
  readonly swaps: number;
}

runMain(async () => {
  const command = new Command('bench/indexing')
    .description(
      'Indexes swaps of many pools on two local chains from a warm log cache into new schemas, by the real handlers and by ' +
        'empty ones in turn: events a second, their ratio, and peak memory at half of the events and at all. Then follows ' +
        'the chains while single swaps come, and prints how long they take to show.',
    )
    .addOption(new Option('--layout <name>', 'of the pools').choices(['flat', 'packed']).default('flat'))
    .option('--events <n>', 'events of pools, on all chains together', Number, 100_000)
    .option('--pools <n>', 'pools, on all chains together', Number, 200)
    .option('--rounds <n>', 'runs of each kind, of which the median counts', Number, 5)
    .option('--swaps <n>', 'swaps that are timed, at most one a pool; 0 leaves them out', Number, 120)
    .parse();
  await bench(command.opts<Options>());
});

async function bench({ layout, events, pools, rounds, swaps }: Options): Promise<void> {
  const postgres = await startPostgres();
  const folder = await createTempFolder('bench-indexing');
  const chains = await Promise.all(CHAIN_IDS.map((chainId) => startChain(chainId, pools / CHAIN_IDS.length, layout)));
  let gateway: Gateway | undefined;
  try {
    const chainsFile = join(folder.path, 'chains.json');
    await writeFile(chainsFile, JSON.stringify({ chains: chains.map(chainEntry) }));
    gateway = await openGateway(loadChainsFile(chainsFile).chains, () => undefined, createLogger('bench', 'silent'));
    const gatewayUrl = gateway.url;
    const run = async (root: keyof typeof ROOTS, schema: string) => {
      const result = await runIndex({ root, schema, databaseUrl: postgres.url, chainsFile, gatewayUrl });
      await dropSchema(postgres.url, schema);
      return result;
    };
    await compare(chains, run, events, rounds);
    if (swaps > 0) printLatency(await measureLatency(chains, { databaseUrl: postgres.url, chainsFile, swaps }));
  } finally {
    gateway?.close();
    await Promise.all(chains.map(({ anvil }) => anvil.stop()));
    await postgres.stop();
    await folder.remove();
  }
}

/** Every kind of run is warm: the first one of all takes the logs from the node and leaves them in the cache. */
async function compare(
  chains: readonly LoadedChain[],
  run: (root: keyof typeof ROOTS, schema: string) => Promise<IndexRun>,
  events: number,
  rounds: number,
): Promise<void> {
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
  printIndexing({ half, all, atHalf, real, empty });
}

/** What a run wrote would be vacuumed while the next ones are timed. */
async function dropSchema(databaseUrl: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
  } finally {
    await client.end();
  }
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

function chainEntry({ anvil, chain, layout, deployment, multicall3 }: LoadedChain): object {
  const { fromBlock, poolFactory, stopLoss, priceVelocityGuard } = deployment;
  return {
    chainId: chain.chainId,
    name: `bench-${chain.chainId}`,
    rpcUrls: [anvil.url],
    multicall3,
    blockTimeMs: BLOCK_TIME_SECS * 1_000,
    pollMs: pollingIntervalMs(BLOCK_TIME_SECS * 1_000),
    deployments: [{ contractVersion: 'v1', layout, fromBlock, poolFactory, stopLoss, priceVelocityGuard }],
  };
}
