import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { KillableServer } from '../chaos/servers.ts';
import { SupervisedProcess } from '../chaos/supervised-process.ts';
import { openWorld } from '../harness/open-world.ts';
import { chainsFile } from '../many-pools/chains-file.ts';
import { fillIndex } from '../many-pools/seed.ts';
import { movePrices, type StreamChain, startStreamChain } from '../many-pools/stream-chain.ts';
import { startTcpProxy } from '../pamm/tcp-proxy.ts';
import { Follower } from './follower.ts';
import { connectSse, connectWebSocket } from './stream-connection.ts';
import { Truth } from './truth.ts';

/** An API over one chain that keeps producing blocks whatever is killed. */
export interface FailingWorld {
  readonly chain: StreamChain;
  readonly truth: Truth;
  readonly api: SupervisedProcess;
  /** All that listen on the port of `api`, itself too. */
  readonly processes: readonly SupervisedProcess[];
  /** The way to the node: the node itself keeps running. */
  readonly node: KillableServer;
  readonly postgres: KillableServer;
  readonly redis: KillableServer;
  /** File descriptors that the API has open. */
  readonly openFiles: () => Promise<number>;
  /** Replaces the last blocks by empty ones of the same heights. Resolves with the number of the head. */
  readonly reorganise: (depth: number) => Promise<number>;
  /**
   * Clients by SSE and WebSocket alternately, each of half of the pools, the `n`th with depth when `hasDepth` says so.
   */
  readonly follow: (count: number, hasDepth: (n: number) => boolean) => Follower[];
  /** Resolves when each of these holds all its quotes of a block that was not there before. */
  readonly allFollow: (followers: readonly Follower[]) => Promise<void>;
}

export interface FailingWorldOptions {
  /** How many processes listen on one port. */
  readonly processes?: number;
  /** More of the environment of the API. */
  readonly env?: Readonly<Record<string, string>>;
  /** What a user of Redis with this `QUEUE_PREFIX` may do is all that the API may. */
  readonly prefix?: string;
}

const CHAIN_ID = 31_337;
/** Pools by group: the last group stands still. */
const GROUPS = [4, 4, 2];
const BLOCK_PAUSE_MS = 350;
const START_LIMIT_MS = 60_000;
/** Of a busy machine. */
export const RECOVERY = { timeout: 60_000, interval: 50 };

/** For one test file. */
export const failingWorld = (options?: FailingWorldOptions) => openWorld((ends) => startFailingWorld(ends, options));

async function startFailingWorld(
  ends: AsyncDisposableStack,
  { processes: count = 1, env, prefix }: FailingWorldOptions = {},
): Promise<FailingWorld> {
  const postgres = await startPostgres({ durable: true });
  ends.defer(postgres.stop);
  const redis = await startRedis({ durable: true, ...(prefix !== undefined && { prefix }) });
  ends.defer(redis.stop);
  const folder = await createTempFolder('stream-failures');
  ends.defer(folder.remove);
  const chain = await startStreamChain(CHAIN_ID, GROUPS);
  ends.defer(chain.stop);
  await fillIndex(postgres.url, [chain]);
  const wire = await startTcpProxy('127.0.0.1', chain.world.anvil.port);
  ends.defer(wire.stop);
  const node = await startRpcProxy(`http://127.0.0.1:${wire.port}`, false);
  ends.defer(node.stop);
  const config = join(folder.path, 'chains.json');
  await writeFile(config, JSON.stringify(chainsOf(chain, node.url, `ws://127.0.0.1:${wire.port}`)));
  const port = await freePort();
  const startApi = async (): Promise<SupervisedProcess> => {
    const operationsPort = await freePort();
    const api = new SupervisedProcess({
      name: 'api',
      main: 'api',
      port,
      operationsPort,
      env: {
        CHAINS_CONFIG: config,
        DATABASE_URL: postgres.url,
        REDIS_URL: redis.url,
        REUSE_PORT: 'on',
        OPERATIONS_PORT: String(operationsPort),
        EXPLORER: 'off',
        LOG_LEVEL: 'error',
        ...env,
      },
    });
    ends.defer(() => api.stop());
    api.start();
    await api.answers('/health', START_LIMIT_MS);
    return api;
  };
  const processes = await Promise.all(Array.from({ length: count }, startApi));
  const [api] = processes as [SupervisedProcess];
  const truth = new Truth(chain);
  const end = new AbortController();
  const mining = new Mining(chain, truth, node);
  const mined = mining.run(end.signal);
  ends.defer(() => mined);
  ends.defer(() => end.abort());
  const follow = (n: number, hasDepth: (n: number) => boolean): Follower => {
    const follower = new Follower({
      connect: n % 2 === 0 ? connectSse : connectWebSocket,
      url: api.url,
      chainId: chain.chainId,
      depth: hasDepth(n),
      pools: chain.pools.flat().filter((_, pool) => (pool + n) % 2 === 0),
    });
    ends.defer(() => follower.stop());
    return follower;
  };
  return {
    chain,
    truth,
    api,
    processes,
    node: new KillableServer('node', { kill: wire.stop, restart: wire.restart }),
    postgres: new KillableServer('postgres', postgres),
    redis: new KillableServer('redis', redis),
    openFiles: async () => (await readdir(`/proc/${api.pid}/fd`)).length,
    reorganise: (depth) => mining.reorganise(depth),
    follow: (clients, hasDepth) => Array.from({ length: clients }, (_, n) => follow(n, hasDepth)),
    allFollow: async (followers) => {
      const height = Number(await chain.world.chain.client.getBlockNumber({ cacheTime: 0 }));
      await vi.waitUntil(() => followers.every(({ completeAt }) => completeAt > height), RECOVERY);
    },
  };
}

function chainsOf(chain: StreamChain, rpcUrl: string, wsUrl: string): object {
  const { chains, ...rest } = chainsFile([chain], () => rpcUrl);
  const entries = chains.map((entry) => ({
    ...entry,
    wsUrls: [wsUrl],
    blockTimeMs: BLOCK_PAUSE_MS,
    warmBudget: { callsPerMinute: 100_000 },
  }));
  // The proxy keeps calls while a block is mined: on a busy machine for seconds, after which no node would be asked.
  const quotes = { ...rest.quotes, rpcTimeoutMs: 8_000 };
  return { ...rest, chains: entries, quotes, stream: { connectionsPerAddress: 1_000 } };
}

/** Mines and records blocks; reorganisations happen between two of them. */
class Mining {
  readonly #chain: StreamChain;
  readonly #truth: Truth;
  readonly #node: RpcProxy;
  #due: (() => Promise<void>) | undefined;

  constructor(chain: StreamChain, truth: Truth, node: RpcProxy) {
    this.#chain = chain;
    this.#truth = truth;
    this.#node = node;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const group = turn % (GROUPS.length - 1);
      await this.#truth.record(await this.#node.quietly(() => movePrices(this.#chain, group)));
      await this.#due?.();
      this.#due = undefined;
      await sleep(BLOCK_PAUSE_MS);
    }
  }

  reorganise(depth: number): Promise<number> {
    const { client } = this.#chain.world.chain;
    return new Promise((resolve, reject) => {
      this.#due = async () => {
        try {
          await this.#node.quietly(() => client.request({ method: 'anvil_reorg', params: [depth, []] } as never));
          const { number, hash } = await client.getBlock();
          await this.#truth.record({ number: Number(number), hash });
          resolve(Number(number));
        } catch (error) {
          reject(error);
        }
      };
    });
  }
}
