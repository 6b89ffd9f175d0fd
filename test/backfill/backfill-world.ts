import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile, type ServedChain } from '../../devnet/chains-config.ts';
import { connectNode } from '../../devnet/json-rpc.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { createTraffic, type Traffic } from '../../devnet/traffic.ts';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { createMigratedDatabase } from '../harness/database.ts';

const CHAINS = [
  { chainId: 31337, name: 'devnet-a', kind: 'ethereum' },
  { chainId: 31338, name: 'devnet-b', kind: 'bsc' },
] as const;

/** Chains with pools that have traded, and a migrated database without an index. */
export interface BackfillWorld {
  readonly chains: readonly (ServedChain & { readonly traffic: Traffic; readonly head: () => Promise<number> })[];
  /** Stands before the node of the last chain. */
  readonly secondNode: RpcProxy;
  readonly chainsFile: string;
  /** A chains file whose first chain is followed from this block on. */
  readonly writeLateChainsFile: (fromBlock: number) => Promise<string>;
  readonly databaseUrl: string;
  readonly database: pg.Pool;
  readonly stop: () => Promise<void>;
}

/** @param chainIds of those chains of the world that there are */
export async function startBackfillWorld(
  actions: number,
  chainIds: readonly number[] = CHAINS.map(({ chainId }) => chainId),
): Promise<BackfillWorld> {
  // What is open ends, the last one first, also where something after it does not start.
  await using opened = new AsyncDisposableStack();
  const home = opened.adopt(await createMigratedDatabase(), ({ drop }) => drop());
  const folder = opened.adopt(await createTempFolder('backfill'), ({ remove }) => remove());
  const kinds = CHAINS.filter(({ chainId }) => chainIds.includes(chainId));
  const chains = await Promise.all(kinds.map((chain) => startChain(opened, chain, actions)));
  const last = chains.at(-1);
  if (last === undefined) throw new Error('no chains');
  const secondNode = opened.adopt(await startRpcProxy(last.url), ({ stop }) => stop());
  const file = buildChainsFile([...chains.slice(0, -1), { ...last, url: secondNode.url }]);
  const write = async (name: string, content: object) => {
    const path = join(folder.path, name);
    await writeFile(path, JSON.stringify(content));
    return path;
  };
  const database = opened.adopt(new pg.Pool({ connectionString: home.url, max: 6 }), (pool) => pool.end());
  opened.defer(killLeftCommands);
  const chainsFile = await write('chains.json', file);
  const ends = opened.move();
  return {
    chains,
    secondNode,
    chainsFile,
    writeLateChainsFile: (fromBlock) =>
      write(`from-${fromBlock}.json`, {
        ...file,
        chains: file.chains.map((chain, index) =>
          index > 0 ? chain : { ...chain, deployments: chain.deployments.map((one) => ({ ...one, fromBlock })) },
        ),
      }),
    databaseUrl: home.url,
    database,
    stop: () => ends.disposeAsync(),
  };
}

async function startChain(opened: AsyncDisposableStack, chain: (typeof CHAINS)[number], actions: number) {
  const anvil = opened.adopt(await startAnvil({ chainId: chain.chainId }), ({ stop }) => stop());
  const scenario = await runScenario({
    rpcUrl: anvil.url,
    chainId: chain.chainId,
    onlyTrading: true,
    packed: packedVariant('older'),
  });
  const traffic = await createTraffic({ rpcUrl: anvil.url, scenario, seed: chain.chainId });
  for (let done = 0; done < actions; done++) await traffic.step();
  await traffic.settle();
  const client = connectNode(anvil.url);
  return {
    ...chain,
    anvil,
    url: anvil.url,
    scenario,
    traffic,
    head: async () => Number(await client.getBlockNumber()),
  };
}

export interface Command {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Its JSON lines of one type. */
  readonly lines: (type: string) => Record<string, unknown>[];
  /** Exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Starts `npm run backfill` without npm, and without the guard of other processes: it must care for its own child. */
export function backfill(
  world: Pick<BackfillWorld, 'databaseUrl' | 'chainsFile'> & { readonly root?: string | undefined },
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Command {
  const child = spawn(process.execPath, [...ownMain('backfill'), ...parameters], {
    cwd: world.root ?? PROJECT_ROOT,
    env: ownEnvironment('backfill', { DATABASE_URL: world.databaseUrl, CHAINS_CONFIG: world.chainsFile, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const lines = (type: string) =>
    output.stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line.type === type);
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, lines, ended };
}

/** Ends the commands that a failed test has left. */
export function killLeftCommands(): void {
  for (const child of running) child.kill('SIGKILL');
}
