import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { ownMain } from '../../local/services/own-process.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import type { TempFolder } from '../../local/services/temp-folder.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import type { Checkout } from './checkout.ts';
import { responds } from './demo-run.ts';

/** The indexer first: the rest is ready when its index is served. */
export const PROCESSES = ['indexer', 'api', 'capture', 'builders'] as const;

/** Milliseconds until `/ready` returns 200. */
export type ProcessTimes = Record<(typeof PROCESSES)[number], number>;

/** A chain with the flat pools of the demo, which mines no block; its chains file. */
export async function startChain(folder: TempFolder): Promise<string> {
  const chainId = 31_337;
  const { url } = await startAnvil({ chainId });
  const scenario = await runScenario({ rpcUrl: url, chainId });
  const chain = { chainId, name: 'devnet', kind: 'ethereum', url, hasSocket: true, scenario } as const;
  const file = join(folder.path, 'chains.json');
  await writeFile(file, JSON.stringify({ ...buildChainsFile([chain]), quotes: stillQuotes }));
  return file;
}

/** Starts the processes of a checkout that is built, one after the other, on stores without data. */
export async function timeProcesses({ path }: Checkout, chainsFile: string): Promise<ProcessTimes> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const stores = { DATABASE_URL: postgres.url, DATABASE_REPLICA_URL: '', REDIS_URL: redis.url };
  const env = { ...process.env, ...stores, CHAINS_CONFIG: chainsFile, HOST: '127.0.0.1' };
  const started: ServiceProcess[] = [];
  const times: ProcessTimes = { indexer: Number.NaN, api: Number.NaN, capture: Number.NaN, builders: Number.NaN };
  try {
    await execa('node', ownMain('migrate'), { cwd: path, env });
    for (const name of PROCESSES) {
      await onFreePort(async (port) => {
        const startedAt = performance.now();
        const service = await startService({
          name,
          command: process.execPath,
          args: ownMain(name),
          cwd: path,
          env: { ...env, PORT: String(port) },
          ready: () => responds(`http://127.0.0.1:${port}/ready`),
        });
        times[name] = performance.now() - startedAt;
        started.push(service);
      });
    }
    return times;
  } finally {
    await Promise.all(started.map(({ stop }) => stop()));
    await Promise.all([postgres.stop(), redis.stop()]);
  }
}
