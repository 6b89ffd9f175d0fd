import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { issueApiKey } from '../../db/api-keys.ts';
import { migrate } from '../../db/migrate.ts';
import { buildChainsFile, type ChainsFileInput } from '../../devnet/chains-config.ts';
import { urlFor } from '../../devnet/mock-builders/mock-builder.ts';
import { type Postgres, startPostgres } from '../../local/services/postgres.ts';
import { type Redis, startRedis } from '../../local/services/redis.ts';
import { createTempFolder, type TempFolder } from '../../local/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { stillQuotes } from '../quotes/quote-world.ts';
import { withAttacker } from './attacker-config.ts';
import { type ChainPlan, ChaosChain } from './chaos-chain.ts';
import { FIAT_PRICE_AGE_SECS } from './compare-databases.ts';
import { type ChaosBuilder, startChaosBuilders } from './quote-updates.ts';
import { KillableServer } from './servers.ts';
import { SupervisedProcess } from './supervised-process.ts';

const CHAINS: readonly ChainPlan[] = [
  { chainId: 31_337, name: 'devnet-a', kind: 'ethereum' },
  { chainId: 31_338, name: 'devnet-b', kind: 'bsc' },
];

const QUEUE_PREFIX = 'chaos';

/** A fast chain: its blocks come several a second. */
const BLOCK_TIME_MS = 500;

/**
 * Dollar prices of the chain $1's tokens $2 for each interval around $3, Unix seconds. What is recorded stays, so
 * databases whose captures look at different moments have the same prices.
 */
const fiatHistorySql = (table: string, secs: number) => `
  INSERT INTO history.${table}
  SELECT $1, token, ts, 0.5 + abs(hashtext(token || ts)) % 1000 / 100.0, 'chaos'
  FROM unnest($2::text[]) token, generate_series(($3::int8 - 3600) / ${secs} * ${secs}, $3::int8 + 14400, ${secs}) ts`;

/** The whole service with everything around it. */
export interface World {
  readonly chains: readonly ChaosChain[];
  readonly builders: readonly ChaosBuilder[];
  readonly servers: { readonly postgres: KillableServer; readonly redis: KillableServer };
  readonly processes: Processes;
  readonly databaseUrl: string;
  /** Settings of its processes, for a command of the operator. */
  readonly env: Readonly<Record<string, string>>;
  /** A Trading API key. */
  readonly key: string;
  /** Starts an index and a listing of their own, which nothing disturbs, in an empty database. */
  readonly startReferenceRun: () => Promise<ReferenceRun>;
  readonly stop: () => Promise<void>;
}

export interface Processes {
  readonly indexer: SupervisedProcess;
  readonly capture: SupervisedProcess;
  readonly apis: readonly SupervisedProcess[];
  readonly workers: readonly SupervisedProcess[];
}

export interface ReferenceRun {
  readonly databaseUrl: string;
  readonly indexer: SupervisedProcess;
  readonly api: SupervisedProcess;
  readonly stop: () => Promise<void>;
}

export interface WorldOptions {
  readonly seed: number;
  /** How many of two chains. */
  readonly chainCount?: number;
  /** Whether an attacker opens hostile pools on the chains, at a factory that the reference run does not know. */
  readonly isAttacked?: boolean;
  /** Processes of each kind of which there may be several: the API and the builders' workers; 2 by default. */
  readonly replicas?: number;
  /** Folder for one log file per process. */
  readonly logs?: string | undefined;
  /** Further settings of the processes. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** What lies under the processes. */
interface Setup {
  readonly chains: readonly ChaosChain[];
  readonly builders: readonly ChaosBuilder[];
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly folder: TempFolder;
  readonly logs: string | undefined;
  readonly settings: Readonly<Record<string, string>>;
  readonly startedAtMs: number;
}

export async function startWorld({
  seed,
  chainCount = CHAINS.length,
  isAttacked = false,
  replicas = 2,
  logs,
  settings = {},
}: WorldOptions): Promise<World> {
  const [postgres, redis, builders, folder, ...chains] = await Promise.all([
    startPostgres({ durable: true }),
    startRedis({ durable: true, prefix: QUEUE_PREFIX }),
    startChaosBuilders(),
    createTempFolder('chaos'),
    ...CHAINS.slice(0, chainCount).map((plan) => ChaosChain.start(plan, seed + plan.chainId, isAttacked)),
  ]);
  if (logs !== undefined) await mkdir(logs, { recursive: true });
  const setup: Setup = { chains, builders, postgres, redis, folder, logs, settings, startedAtMs: Date.now() };
  const key = await prepareDatabase(postgres.url, setup);
  const env = await servedEnvironment(setup);
  const processes = await startProcesses(setup, env, replicas);
  const all = [...processes.apis, ...processes.workers, processes.capture, processes.indexer];
  return {
    chains,
    builders,
    servers: { postgres: new KillableServer('postgres', postgres), redis: new KillableServer('redis', redis) },
    processes,
    databaseUrl: postgres.url,
    env,
    key,
    startReferenceRun: () => startReferenceRun(setup),
    stop: async () => {
      await Promise.all(all.map((process) => process.stop()));
      await Promise.all([...chains.map((chain) => chain.stop()), ...builders.map(({ mock }) => mock.stop())]);
      await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
    },
  };
}

async function prepareDatabase(url: string, { chains, startedAtMs }: Setup): Promise<string> {
  await migrate(url);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const startedAt = Math.floor(startedAtMs / 1_000);
    for (const [table, secs] of [
      ['fiat_price_minute', 60],
      ['fiat_price_hour', 3_600],
    ] as const) {
      await pool.query('SELECT history.keep_partitions($1, $2, 0)', [table, startedAt - 3_600]);
      for (const { plan, scenario } of chains) {
        const tokens = scenario.tokens.map(({ address }) => address.toLowerCase());
        await pool.query(fiatHistorySql(table, secs), [plan.chainId, tokens, startedAt]);
      }
    }
    return (await issueApiKey(pool, 'chaos')).key;
  } finally {
    await pool.end();
  }
}

function servedEnvironment(setup: Setup): Promise<Record<string, string>> {
  const { chains, builders, postgres } = setup;
  const ofKind = (kind: ChainPlan['kind']) =>
    builders
      .filter((builder) => builder.kind === kind)
      .map(({ id, transport, mock }) => ({
        id,
        transport,
        url: urlFor(mock, transport),
      }));
  const file = buildChainsFile(
    chains.map(({ served }) => served),
    {
      builders: { ethereum: ofKind('ethereum'), bsc: ofKind('bsc') },
      blockTimeMs: BLOCK_TIME_MS,
      interpretations: true,
    },
  );
  const entries = file.chains.map((entry, index) => withAttacker(entry, chains[index]?.attacker));
  return environmentOf(setup, 'chains.json', { ...file, chains: entries }, postgres.url);
}

async function startProcesses(
  setup: Setup,
  env: Readonly<Record<string, string>>,
  replicas: number,
): Promise<Processes> {
  const start = (name: string, main: string) => startProcess(setup, name, main, env);
  const startReplicas = (name: string, main: string) =>
    Promise.all(Array.from({ length: replicas }, (_, index) => start(`${name}-${index + 1}`, main)));
  const [indexer, capture, apis, workers] = await Promise.all([
    start('indexer', 'indexer'),
    start('capture', 'capture'),
    startReplicas('api', 'api'),
    startReplicas('builders', 'builders'),
  ]);
  return { indexer, capture, apis, workers };
}

/** The same chains, straight from their nodes, into a new database. */
async function startReferenceRun(setup: Setup): Promise<ReferenceRun> {
  const url = await createDatabase(setup.postgres.url, 'reference');
  await prepareDatabase(url, setup);
  const file = buildChainsFile(
    setup.chains.map(({ reference }) => reference),
    { blockTimeMs: BLOCK_TIME_MS, interpretations: true },
  );
  const env = await environmentOf(setup, 'reference.json', file, url);
  const start = (name: string) => startProcess(setup, `reference-${name}`, name, env);
  const [indexer, capture, api] = await Promise.all([start('indexer'), start('capture'), start('api')]);
  return {
    databaseUrl: url,
    indexer,
    api,
    stop: async () => {
      await Promise.all([indexer, capture, api].map((process) => process.stop()));
    },
  };
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function environmentOf(
  { folder, redis, settings }: Setup,
  fileName: string,
  file: ChainsFileInput,
  databaseUrl: string,
): Promise<Record<string, string>> {
  const path = join(folder.path, fileName);
  // Quotes are compared when the chains rest.
  await writeFile(path, JSON.stringify({ ...file, quotes: stillQuotes }));
  return {
    CHAINS_CONFIG: path,
    DATABASE_URL: databaseUrl,
    DATABASE_REPLICA_URL: '',
    DATABASE_SCHEMA: '',
    REDIS_URL: redis.url,
    QUEUE_PREFIX,
    EXPLORER: 'off',
    FIAT_PRICE_MAX_AGE_SECS: String(FIAT_PRICE_AGE_SECS),
    LOG_LEVEL: 'info',
    ...settings,
  };
}

async function startProcess(
  { logs }: Setup,
  name: string,
  main: string,
  env: Readonly<Record<string, string>>,
): Promise<SupervisedProcess> {
  const port = await freePort();
  const output = logs === undefined ? undefined : createWriteStream(join(logs, `${name}.log`));
  const process = new SupervisedProcess({ name, main, env, port, output });
  process.start();
  return process;
}
