import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOwnProcess } from '../local/services/own-process.ts';
import type { TempFolder } from '../local/services/temp-folder.ts';
import { freePort } from '../runtime/free-port.ts';

const HOST = '127.0.0.1';
const START_LIMIT_MS = 60_000;

export interface ServedApi {
  readonly url: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export interface ApiSetup {
  readonly folder: TempFolder;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Content of its chains file. */
  readonly chainsFile: unknown;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the real API over a database that is filled. */
export const serveApi = (setup: ApiSetup): Promise<ServedApi> => serveProcess('api', setup);

/** Starts one of the service's processes. */
export async function serveProcess(
  main: 'api' | 'capture',
  { folder, databaseUrl, redisUrl, chainsFile, env }: ApiSetup,
): Promise<ServedApi> {
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  const config = join(folder.path, `chains-${port}.json`);
  await writeFile(config, JSON.stringify(chainsFile));
  const { pid, stop } = await startOwnProcess({
    main,
    env: {
      CHAINS_CONFIG: config,
      DATABASE_URL: databaseUrl,
      DATABASE_REPLICA_URL: undefined,
      REDIS_URL: redisUrl,
      HOST,
      PORT: String(port),
      LOG_LEVEL: 'fatal',
      EXPLORER: 'off',
      ...env,
    },
    ready: `${url}/health`,
    startTimeoutMs: START_LIMIT_MS,
  });
  return { url, pid, stop };
}
