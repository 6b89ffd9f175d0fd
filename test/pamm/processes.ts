import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';

export type ProcessSettings = {
  readonly chains: readonly ChainConfig[];
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** A process that can be killed and started again. */
export type Restartable = { kill(): Promise<void>; restart(): Promise<void>; stop(): Promise<void> };

export type ApiProcess = Restartable & {
  readonly base: string;
  /** Everything that it has printed. */
  output(): string;
};

/** Writes the chains file once and starts API and worker processes that share it. */
export async function createProcesses({ chains, redisUrl, databaseUrl, env = {} }: ProcessSettings) {
  const folder = await createTempFolder('pamm');
  const config = join(folder.path, 'chains.json');
  await writeFile(config, JSON.stringify({ chains }));
  const shared = { CHAINS_CONFIG: config, REDIS_URL: redisUrl, PAMM_SIMULATION: 'off', LOG_LEVEL: 'info', ...env };
  return {
    /** @param main the quote-update endpoint alone, or `api` */
    async startApi(main = 'pamm-api'): Promise<ApiProcess> {
      const port = await freePort();
      const settings = { ...shared, DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: String(port) };
      let text = '';
      const output = new PassThrough().on('data', (chunk) => {
        text += chunk;
      });
      const service = await restartable(() => startOwnProcess({ main, env: settings, ready: /listening/, output }));
      return { ...service, base: `http://127.0.0.1:${port}`, output: () => text };
    },
    startWorker: (changes: Readonly<Record<string, string>> = {}): Promise<Restartable> =>
      restartable(() =>
        startOwnProcess({
          main: 'builders',
          env: { ...shared, ...changes, DATABASE_URL: databaseUrl, PORT: undefined },
          ready: /"ready"/,
        }),
      ),
    remove: () => folder.remove(),
  };
}

async function restartable(start: () => ReturnType<typeof startOwnProcess>): Promise<Restartable> {
  let service = await start();
  return {
    kill: () => service.kill(),
    stop: () => service.stop(),
    restart: async () => {
      service = await start();
    },
  };
}
