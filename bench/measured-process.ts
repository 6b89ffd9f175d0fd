import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { API_FLAGS, startOwnProcess } from '../local/services/own-process.ts';
import { type ServiceProcess, startService } from '../local/services/service-process.ts';
import { freePort } from '../runtime/free-port.ts';
import { givePrecedence } from '../test/abuse/precedence.ts';
import { cpuMsOf, peakMemoryOf } from './process-figures.ts';
import type { Stores } from './stores.ts';

/** A process of its own, so that what it takes is not the client's. */
export interface MeasuredProcess {
  readonly pid: number;
  readonly url: string;
  /** From its start until it served, milliseconds. */
  readonly startMs: number;
  /** CPU time so far, milliseconds. */
  readonly cpuMs: () => number;
  /** Most RAM so far, bytes. */
  readonly peakMemory: () => number;
  readonly stop: () => Promise<void>;
}

/** A process that runs a module of a bench. */
export interface MeasuredScript extends MeasuredProcess {
  /** In the order in which the module gave its apps. */
  readonly urls: readonly string[];
  /** What it holds after a collection, bytes. */
  readonly heldMemory: () => Promise<HeldMemory>;
}

export type HeldMemory = Pick<NodeJS.MemoryUsage, 'heapUsed' | 'external' | 'rss'>;

/** Starts it as the API is started. @param source calls `serveMeasured`, which takes the task */
export async function startMeasuredScript(source: URL, task: unknown = null): Promise<MeasuredScript> {
  const ports = /^\d+(?: \d+)*$/m;
  const startedAt = performance.now();
  const service = await startService({
    name: 'server',
    command: process.execPath,
    args: [...API_FLAGS, '--import', 'tsx', fileURLToPath(source)],
    env: { ...process.env, BENCH_TASK: JSON.stringify(task) },
    ready: ports,
  });
  const [line = ''] = ports.exec(service.recentOutput()) ?? [];
  const [memory = '', ...urls] = line.split(' ').map((port) => `http://127.0.0.1:${port}`);
  const heldMemory = async () => (await (await fetch(memory)).json()) as HeldMemory;
  return { ...measured(service, urls[0] ?? '', startedAt), urls, heldMemory };
}

export interface ServiceSetup {
  /** Default: the API. */
  readonly main?: 'api' | 'capture';
  readonly stores: Pick<Stores, 'redis' | 'folder'>;
  readonly databaseUrl: string;
  /** Content of its chains file. */
  readonly chainsFile: unknown;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it gets cores before others, as in production. */
  readonly hasPrecedence?: boolean;
  /** Whether it serves, once it is healthy. */
  readonly isServing?: (url: string) => Promise<boolean>;
}

const HOST = '127.0.0.1';
const START_LIMIT_MS = 300_000;

/** Starts one of the project's processes as it is, over a database that is filled. */
export async function startMeasuredService(setup: ServiceSetup): Promise<MeasuredProcess> {
  const { main = 'api', stores, databaseUrl, chainsFile, env, hasPrecedence, isServing = async () => true } = setup;
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  const config = join(stores.folder.path, `chains-${port}.json`);
  await writeFile(config, JSON.stringify(chainsFile));
  const startedAt = performance.now();
  const service = await startOwnProcess({
    main,
    env: {
      CHAINS_CONFIG: config,
      DATABASE_URL: databaseUrl,
      DATABASE_REPLICA_URL: undefined,
      REDIS_URL: stores.redis.url,
      HOST,
      PORT: String(port),
      LOG_LEVEL: 'fatal',
      EXPLORER: 'off',
      ...env,
    },
    ready: `${url}/health`,
    startTimeoutMs: START_LIMIT_MS,
  });
  if (hasPrecedence) givePrecedence(service.pid);
  for (const deadline = Date.now() + START_LIMIT_MS; !(await isServing(url)); await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`${main} does not serve: ${service.recentOutput()}`);
  }
  return measured(service, url, startedAt);
}

function measured({ pid, stop }: ServiceProcess, url: string, startedAt: number): MeasuredProcess {
  const startMs = performance.now() - startedAt;
  return { pid, url, startMs, cpuMs: () => cpuMsOf(pid), peakMemory: () => peakMemoryOf(pid), stop };
}
