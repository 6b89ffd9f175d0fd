import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../devnet/services/postgres.ts';
import { createTempFolder } from '../../devnet/services/temp-folder.ts';
import { runMain } from '../../runtime/run-main.ts';
import { type IndexRun, runIndex } from './index-run.ts';
import { addTraffic, type LoadedChain, startChain } from './workload.ts';

const HELP = `Usage: bench/indexing [--events 100000] [--pools 200] [--rounds 3]

Indexes swaps of many pools on two local chains from a warm log cache into new schemas, by the real handlers and by empty
ones in turn, and prints events a second, their ratio and peak memory at half of the events and at all.
`;

const CHAIN_IDS = [31337, 31338];

const print = (line: string) => process.stdout.write(`${line}\n`);

runMain(async () => {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '100000' },
      pools: { type: 'string', default: '200' },
      rounds: { type: 'string', default: '3' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) print(HELP);
  else await bench(Number(values.events), Number(values.pools), Number(values.rounds));
});

async function bench(events: number, pools: number, rounds: number): Promise<void> {
  const postgres = await startPostgres();
  const folder = await createTempFolder('bench-indexing');
  const chains = await Promise.all(CHAIN_IDS.map((chainId) => startChain(chainId, pools / CHAIN_IDS.length)));
  try {
    const chainsFile = join(folder.path, 'chains.json');
    await writeFile(chainsFile, JSON.stringify({ chains: chains.map(chainEntry) }));
    const run = (root: 'real' | 'empty', schema: string) =>
      runIndex({ root, schema, databaseUrl: postgres.url, chainsFile });

    const half = await addToAll(chains, events / 2);
    await run('real', 'warm_half');
    const atHalf = await run('real', 'real_half');
    const all = half + (await addToAll(chains, events - half));
    await run('real', 'warm_all');
    const real: IndexRun[] = [];
    const empty: IndexRun[] = [];
    for (let round = 0; round < rounds; round++) {
      empty.push(await run('empty', `empty_${round}`));
      real.push(await run('real', `real_${round}`));
    }
    report({ half, all, atHalf, real, empty });
  } finally {
    await Promise.all(chains.map(({ anvil }) => anvil.stop()));
    await postgres.stop();
    await folder.remove();
  }
}

async function addToAll(chains: readonly LoadedChain[], events: number): Promise<number> {
  const counts = await Promise.all(chains.map((chain) => addTraffic(chain, events / chains.length)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function chainEntry({ anvil, chain, deployment }: LoadedChain): object {
  const { fromBlock, poolFactory, stopLoss, priceVelocityGuard, multicall3 } = deployment;
  return {
    ...{ chainId: chain.chainId, name: `bench-${chain.chainId}`, rpcUrls: [anvil.url], blockTimeMs: 1_000, multicall3 },
    deployments: [{ contractVersion: 'v1', layout: 'flat', fromBlock, poolFactory, stopLoss, priceVelocityGuard }],
  };
}

interface Results {
  readonly half: number;
  readonly all: number;
  readonly atHalf: IndexRun;
  readonly real: readonly IndexRun[];
  readonly empty: readonly IndexRun[];
}

function report({ half, all, atHalf, real, empty }: Results): void {
  const rate = (runs: readonly IndexRun[]) => all / median(runs.map(({ seconds }) => seconds));
  const peak = median(real.map(({ peakMegabytes }) => peakMegabytes));
  print(`pool events                  ${half} and ${all}`);
  print(`empty handlers               ${rate(empty).toFixed(0)} events/s`);
  print(`real handlers                ${rate(real).toFixed(0)} events/s`);
  print(`real / empty                 ${(rate(real) / rate(empty)).toFixed(2)}`);
  print(`peak memory, half and all    ${atHalf.peakMegabytes.toFixed(0)} MB, ${peak.toFixed(0)} MB`);
  print(`all / half                   ${(peak / atHalf.peakMegabytes).toFixed(2)}`);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
