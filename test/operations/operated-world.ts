import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import pg from 'pg';
import type { PublicClient } from 'viem';
import { chainEndpoints } from '../../builders/submit/endpoints.ts';
import { loadChainsFile } from '../../config/load-chains.ts';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectNode } from '../../devnet/json-rpc.ts';
import { type MockBuilder, startMockBuilder } from '../../devnet/mock-builders/mock-builder.ts';
import { runScenario, type Scenario } from '../../devnet/scenario.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { ServiceError } from '../../local/services/service-error.ts';
import type { ServiceProcess } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { stillQuotes } from '../quotes/quote-world.ts';

export const PROCESSES = ['api', 'indexer', 'capture', 'builders'] as const;
export type ProcessName = (typeof PROCESSES)[number];

export type OperatedProcess = ServiceProcess & {
  readonly url: string;
  /** All that it has printed. */
  readonly log: () => string;
};

export type OperatedChain = {
  readonly chainId: number;
  readonly anvil: Anvil;
  readonly client: PublicClient;
  readonly scenario: Scenario;
};

/** All processes of the service at work on two silent chains with pools and mock builders; the second has sockets. */
export type OperatedWorld = {
  /** The first is of kind `ethereum`, the second `bsc`. Neither mines unless asked to. */
  readonly chains: readonly [OperatedChain, OperatedChain];
  /** As metrics name them. */
  readonly providers: Readonly<Record<'stream' | 'otherStream' | 'bundle', string>>;
  readonly processes: Readonly<Record<ProcessName, OperatedProcess>>;
  readonly databaseUrl: string;
  /** As capture's user. */
  readonly captureRedisUrl: string;
  readonly database: pg.Pool;
  readonly stop: () => Promise<void>;
};

const KINDS = { 31337: 'ethereum', 31338: 'bsc' } as const;

/** @param settings environment of every process */
export async function startOperatedWorld(settings: Readonly<Record<string, string>>): Promise<OperatedWorld> {
  // What is open ends, the last one first, also where something after it does not start.
  await using opened = new AsyncDisposableStack();
  const database = opened.adopt(await createMigratedDatabase(), ({ drop }) => drop());
  const redis = opened.adopt(await createRedisDatabase('pamm'), ({ drop }) => drop());
  const folder = opened.adopt(await createTempFolder('operated-world'), ({ remove }) => remove());
  const builder = opened.adopt(await startMockBuilder(), ({ stop }) => stop());
  const [first, second] = await Promise.all([startChain(opened, 31337), startChain(opened, 31338)]);
  const chainsFile = join(folder.path, 'chains.json');
  await writeFile(chainsFile, JSON.stringify(chainsOf([first, second], builder)));
  const env = { ...settings, CHAINS_CONFIG: chainsFile, DATABASE_URL: database.url, REDIS_URL: redis.url };
  const envOf = (name: ProcessName) => (name === 'capture' ? { ...env, REDIS_URL: redis.captureUrl } : env);
  const started = await Promise.all(
    PROCESSES.map(async (name) => {
      const process = opened.adopt(await startProcess(name, envOf(name)), ({ stop }) => stop());
      return [name, process] as const;
    }),
  );
  const pool = opened.adopt(new pg.Pool({ connectionString: database.url, max: 2 }), (it) => it.end());
  pool.on('error', () => undefined); // Dropping the database ends its sessions.
  const endpoints = loadChainsFile(chainsFile).chains.flatMap((chain) => chainEndpoints(chain, env));
  const endpointId = (builder: string) =>
    endpoints.find(({ provider }) => provider.startsWith(`${builder}:`))?.id ?? '';
  const ends = opened.move();
  return {
    chains: [first, second],
    providers: {
      stream: endpointId('mock-stream'),
      otherStream: endpointId('other-stream'),
      bundle: endpointId('mock-bundle'),
    },
    processes: Object.fromEntries(started) as Record<ProcessName, OperatedProcess>,
    databaseUrl: database.url,
    captureRedisUrl: redis.captureUrl,
    database: pool,
    stop: () => ends.disposeAsync(),
  };
}

async function startChain(
  opened: AsyncDisposableStack,
  chainId: keyof typeof KINDS,
): Promise<OperatedChain & { readonly kind: 'ethereum' | 'bsc' }> {
  const anvil = opened.adopt(await startAnvil({ chainId }), ({ stop }) => stop());
  const client = connectNode(anvil.url);
  return {
    chainId,
    kind: KINDS[chainId],
    anvil,
    client,
    scenario: await runScenario({ rpcUrl: anvil.url, chainId, onlyTrading: true }),
  };
}

function chainsOf(chains: readonly (OperatedChain & { kind: 'ethereum' | 'bsc' })[], builder: MockBuilder) {
  const stream = { id: 'mock-stream', transport: 'quote-stream', url: builder.streamUrl } as const;
  const bundle = { id: 'mock-bundle', transport: 'bundle', url: builder.bundleUrl } as const;
  const served = chains.map((chain) => ({
    ...chain,
    name: chain.kind,
    url: chain.anvil.url,
    hasSocket: chain.kind === 'bsc',
    live: { sources: [{ kind: 'own' as const }] },
  }));
  const file = buildChainsFile(served, {
    builders: { ethereum: [stream], bsc: [{ ...stream, id: 'other-stream' }, bundle] },
  });
  return { ...file, quotes: stillQuotes };
}

function startProcess(name: ProcessName, env: Readonly<Record<string, string>>): Promise<OperatedProcess> {
  return onFreePort(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    let log = '';
    const output = new PassThrough().on('data', (chunk) => {
      log += chunk;
    });
    const service = await startOwnProcess({
      main: name,
      output,
      env: { ...env, HOST: '127.0.0.1', PORT: String(port) },
      ready: `${url}/health`,
      startTimeoutMs: 90_000,
    }).catch((error: ServiceError) => {
      throw new ServiceError(`${error.message}\n${error.log}`, error.log);
    });
    return { ...service, url, log: () => log };
  });
}
