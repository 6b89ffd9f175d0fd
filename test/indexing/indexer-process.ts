import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { vi } from 'vitest';
import { servedSchema } from '../../db/served-schema.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import type { ServiceProcess } from '../../local/services/service-process.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import { openWorld } from '../harness/open-world.ts';

export interface RunningIndexer extends ServiceProcess {
  /** Base URL of its own endpoints. */
  readonly url: string;
}

type IndexerSettings = {
  readonly databaseUrl: string;
  readonly chainsFile: string;
  readonly schema?: string;
  /** Folder of the release that runs. Default: this one. */
  readonly root?: string | undefined;
};

const STATUS_TIMEOUT_MS = 30_000;
/** Each request costs the indexer a query. */
const POLL_MS = 100;

interface Status {
  readonly [chain: string]: { readonly id: number; readonly block: { readonly number: number } };
}

/** Starts the real indexer and waits until it has followed all chains to their current heads and readers see it. */
export function startIndexer(settings: IndexerSettings): Promise<RunningIndexer> {
  return onFreePort(async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const service = await startOwnProcess({
      main: 'indexer',
      root: settings.root,
      env: {
        CHAINS_CONFIG: settings.chainsFile,
        DATABASE_URL: settings.databaseUrl,
        DATABASE_SCHEMA: settings.schema,
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'info',
      },
      ready: `${url}/ready`,
      startTimeoutMs: 90_000,
    });
    await untilServed(settings.databaseUrl);
    return { ...service, url };
  });
}

/** Gives `startIndexer` for the tests of one file: what they start ends after the last of them, whatever fails. */
export function indexerStarter(): (settings: IndexerSettings) => Promise<RunningIndexer> {
  const file = openWorld(async (ends) => ({ ends }));
  return async (settings) => file.ends.adopt(await startIndexer(settings), ({ stop }) => stop());
}

/** The first index of a database is ready shortly before its views are there. */
async function untilServed(databaseUrl: string): Promise<void> {
  const database = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    await vi.waitUntil(async () => (await servedSchema(database)) !== null, { interval: 50 });
  } finally {
    await database.end();
  }
}

/** Waits until the indexer is at this block, or beyond, of every chain. */
export async function waitUntilIndexed(
  indexer: RunningIndexer,
  heads: ReadonlyMap<number, number>,
  timeoutMs = 90_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const { text } = await sendRequest(`${indexer.url}/status`, { timeoutMs: STATUS_TIMEOUT_MS });
    const status: Status = JSON.parse(text);
    const indexed = new Map(Object.values(status).map(({ id, block }) => [id, block.number]));
    if ([...heads].every(([chainId, head]) => (indexed.get(chainId) ?? -1) >= head)) return;
    if (Date.now() > deadline) {
      throw new Error(`indexer is at ${JSON.stringify(status)}, chains at ${JSON.stringify([...heads])}`);
    }
    await sleep(POLL_MS);
  }
}
