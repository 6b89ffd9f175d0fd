import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { seedIndex } from '../../bench/hostile/seed.ts';
import { chainsFile } from '../../bench/hostile/served-process.ts';
import { movePrices, type StreamChain, startStreamChain } from '../../bench/stream/market.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../devnet/services/postgres.ts';
import { startRedis } from '../../devnet/services/redis.ts';
import { createTempFolder } from '../../devnet/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { KillableServer } from '../chaos/servers.ts';
import { SupervisedProcess } from '../chaos/supervised-process.ts';
import { startTcpProxy } from '../pamm/tcp-proxy.ts';
import { Truth } from './truth.ts';

/** An API over one chain that keeps producing blocks whatever is killed. */
export interface FailingWorld {
  readonly chain: StreamChain;
  readonly truth: Truth;
  readonly api: SupervisedProcess;
  /** The way to the node: the node itself keeps running. */
  readonly node: KillableServer;
  readonly postgres: KillableServer;
  readonly redis: KillableServer;
  /** File descriptors that the API has open. */
  readonly openFiles: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const CHAIN_ID = 31_337;
/** Pools by group: the last group stands still. */
const GROUPS = [4, 4, 2];
const BLOCK_PAUSE_MS = 350;
const START_LIMIT_MS = 60_000;

export async function startFailingWorld(): Promise<FailingWorld> {
  const [postgres, redis, folder, chain] = await Promise.all([
    startPostgres({ durable: true }),
    startRedis({ durable: true }),
    createTempFolder('stream-failures'),
    startStreamChain(CHAIN_ID, GROUPS),
  ]);
  await fillIndex(postgres.url, chain);
  const wire = await startTcpProxy('127.0.0.1', chain.world.anvil.port);
  const config = join(folder.path, 'chains.json');
  await writeFile(config, JSON.stringify(chainsOf(chain, wire.port)));
  const api = new SupervisedProcess({
    name: 'api',
    main: 'api',
    port: await freePort(),
    env: {
      CHAINS_CONFIG: config,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      EXPLORER: 'off',
      LOG_LEVEL: 'error',
    },
  });
  api.start();
  await api.answers('/health', START_LIMIT_MS);
  const truth = new Truth(chain);
  const end = new AbortController();
  const mining = keepMining(chain, truth, end.signal);
  return {
    chain,
    truth,
    api,
    node: new KillableServer('node', { kill: wire.stop, restart: wire.restart }),
    postgres: new KillableServer('postgres', postgres),
    redis: new KillableServer('redis', redis),
    openFiles: async () => (await readdir(`/proc/${api.pid}/fd`)).length,
    stop: async () => {
      end.abort();
      await mining;
      await api.stop();
      await wire.stop();
      await Promise.all([chain.stop(), postgres.stop(), redis.stop(), folder.remove()]);
    },
  };
}

async function fillIndex(url: string, chain: StreamChain): Promise<void> {
  await migrate(url);
  const database = new pg.Pool({ connectionString: url, max: 2 });
  try {
    await seedIndex(database, url, [chain], true);
  } finally {
    await database.end();
  }
}

function chainsOf(chain: StreamChain, port: number): object {
  const { chains, ...rest } = chainsFile([chain], () => `http://127.0.0.1:${port}`);
  const entries = chains.map((entry) => ({
    ...entry,
    wsUrls: [`ws://127.0.0.1:${port}`],
    blockTimeMs: BLOCK_PAUSE_MS,
    warmBudget: { callsPerMinute: 100_000 },
  }));
  return { ...rest, chains: entries, stream: { connectionsPerAddress: 1_000 } };
}

async function keepMining(chain: StreamChain, truth: Truth, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    const { number } = await movePrices(chain, turn % (GROUPS.length - 1));
    await truth.record(number);
    await sleep(BLOCK_PAUSE_MS);
  }
}
