import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PublicClient } from 'viem';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectNode } from '../../devnet/json-rpc.ts';
import { runScenario, type Scenario } from '../../devnet/scenario.ts';
import { createTraffic, type Traffic } from '../../devnet/traffic.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { startTcpProxy } from '../pamm/tcp-proxy.ts';
import { type RunningIndexer, startIndexer, waitUntilIndexed } from './indexer-process.ts';

export interface WorldChain {
  readonly chainId: number;
  readonly anvil: Anvil;
  readonly client: PublicClient;
  readonly scenario: Scenario;
  readonly traffic: Traffic;
}

/** Two chains with the scenario and traffic, and a database that the real indexer fills. */
export interface IndexedWorld {
  readonly chains: readonly WorldChain[];
  readonly databaseUrl: string;
  readonly indexer: RunningIndexer;
  /** Does this many random actions on each chain. */
  readonly act: (actions: number) => Promise<void>;
  /** Breaks the indexer's connections to Postgres after this many commits, before they are acknowledged. */
  readonly loseAcknowledgements: (count: number) => void;
  /** Waits until the index is at the chains' heads. */
  readonly catchUp: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const CHAINS = [
  { chainId: 31337, name: 'devnet-a', kind: 'ethereum' },
  // Followed by its socket, the other one by looks.
  { chainId: 31338, name: 'devnet-b', kind: 'bsc', hasSocket: true },
] as const;

/** @param actionsBefore random actions per chain before the indexer starts, so that it meets them as history */
export async function startIndexedWorld(actionsBefore: number): Promise<IndexedWorld> {
  // What is open ends, the last one first, also where something after it does not start.
  await using opened = new AsyncDisposableStack();
  const database = opened.adopt(await createMigratedDatabase(), ({ drop }) => drop());
  const folder = opened.adopt(await createTempFolder('indexed-world'), ({ remove }) => remove());
  const chains = await Promise.all(CHAINS.map(({ chainId }) => startChain(opened, chainId)));
  const act = async (actions: number) => {
    await Promise.all(chains.map(({ traffic }) => actOn(traffic, actions)));
  };
  await act(actionsBefore);
  const chainsFile = join(folder.path, 'chains.json');
  const served = chains.map((chain, index) => ({ ...CHAINS[index], ...chain, url: chain.anvil.url }));
  await writeFile(chainsFile, JSON.stringify(buildChainsFile(served as Parameters<typeof buildChainsFile>[0])));
  let toLose = 0;
  const postgres = new URL(database.url);
  const proxy = await startTcpProxy(postgres.hostname, Number(postgres.port), (data) => {
    return toLose > 0 && data.includes('COMMIT\0') && toLose-- > 0;
  });
  opened.defer(proxy.stop);
  const proxied = Object.assign(new URL(postgres), { port: String(proxy.port) });
  const indexer = await startIndexer({ databaseUrl: proxied.href, chainsFile });
  opened.defer(indexer.stop);
  const ends = opened.move();
  return {
    chains,
    databaseUrl: database.url,
    indexer,
    act,
    loseAcknowledgements: (count) => {
      toLose = count;
    },
    catchUp: async () => {
      const heads = await Promise.all(
        chains.map(async ({ chainId, client }) => [chainId, Number(await client.getBlockNumber())] as const),
      );
      await waitUntilIndexed(indexer, new Map(heads));
    },
    stop: () => ends.disposeAsync(),
  };
}

async function startChain(opened: AsyncDisposableStack, chainId: number): Promise<WorldChain> {
  const anvil = opened.adopt(await startAnvil({ chainId }), ({ stop }) => stop());
  const client = connectNode(anvil.url);
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId });
  const traffic = await createTraffic({ rpcUrl: anvil.url, scenario, seed: chainId });
  return { chainId, anvil, client, scenario, traffic };
}

async function actOn(traffic: Traffic, actions: number): Promise<void> {
  for (let done = 0; done < actions; done++) await traffic.step();
  await traffic.settle();
}
