import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import type { ServiceProcess } from '../../local/services/service-process.ts';
import type { TempFolder } from '../../local/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import type { HostileChain, SeededChain } from './chain.ts';
import { givePrecedence } from './precedence.ts';

export interface ServedProcess {
  readonly url: string;
  readonly pid: number;
  /** From its start to the first answers of every kind, milliseconds. */
  readonly startMs: number;
  readonly stop: () => Promise<void>;
}

export interface Setup {
  readonly folder: TempFolder;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly chains: readonly HostileChain[];
}

const HOST = '127.0.0.1';
const START_LIMIT_MS = 300_000;
const BLOCK_TIME_MS = 1_000;
const BASE_USD = 2_000;

/** The chains file of a process that reaches the nodes at these URLs. */
export function chainsFile<T extends SeededChain>(
  chains: readonly T[],
  urlOf: (chain: T) => string,
): z.input<typeof ChainsFile> {
  return {
    chains: chains.map((chain) => ({
      chainId: chain.chainId,
      name: `chain-${chain.chainId}`,
      rpcUrls: [urlOf(chain)],
      blockTimeMs: BLOCK_TIME_MS,
      deployments: [
        {
          contractVersion: 'v1',
          layout: 'flat',
          fromBlock: 0,
          poolFactory: chain.world.deployment.poolFactory,
          poolDeployer: chain.world.deployment.poolDeployer,
          stopLoss: chain.world.deployment.stopLoss,
        },
      ],
    })),
    fiatPrices: {
      source: 'static',
      prices: Object.fromEntries(
        chains.flatMap(({ chainId, pairs }) =>
          pairs.flatMap(({ token0, token1 }) => [
            [`${chainId}:${token0}`, BASE_USD],
            [`${chainId}:${token1}`, 1],
          ]),
        ),
      ),
    },
    limits: { enabled: false },
    quotes: stillQuotes,
  };
}

/** Starts one of the project's processes and waits until it serves as the given question says. @param quotes of its file */
export async function startProcess(
  setup: Setup,
  name: 'api' | 'capture',
  isStarted: (url: string) => Promise<boolean>,
  quotes: z.input<typeof ChainsFile>['quotes'] = {},
): Promise<ServedProcess> {
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  const config = join(setup.folder.path, `${name}.json`);
  const urlOf = ({ proxy, world }: HostileChain) => (name === 'api' ? proxy.url : world.anvil.url);
  await writeFile(
    config,
    JSON.stringify({ ...chainsFile(setup.chains, urlOf), quotes: { ...stillQuotes, ...quotes } }),
  );
  const startedAt = performance.now();
  const running: ServiceProcess = await startOwnProcess({
    main: name,
    env: {
      CHAINS_CONFIG: config,
      DATABASE_URL: setup.databaseUrl,
      REDIS_URL: setup.redisUrl,
      HOST,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      DATABASE_REPLICA_URL: undefined,
      TRUSTED_PROXIES: '1',
      EXPLORER: 'off',
    },
    ready: `${url}/health`,
    startTimeoutMs: START_LIMIT_MS,
  });
  if (name === 'api') givePrecedence(running.pid);
  for (const deadline = Date.now() + START_LIMIT_MS; !(await isStarted(url)); await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`${name} does not serve: ${running.recentOutput()}`);
  }
  return { url, pid: running.pid, startMs: performance.now() - startedAt, stop: running.stop };
}
