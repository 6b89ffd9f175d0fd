import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CACHE_BYTES } from '../../indexer/cache-size.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { cpuMsOf, peakMemoryOf } from '../process-figures.ts';

const PONDER = fileURLToPath(new URL('./bin/ponder.js', import.meta.resolve('ponder')));
const NATIVE_IMPORT = new URL('./native-import.mjs', import.meta.url).href;

/** Ponder projects that are compared: the same contracts and tables, other handlers. */
export const ROOTS = { real: 'dist/ponder', empty: 'bench/indexing/empty' } as const;

const STARTED = /"msg":"Started backfill indexing"/;
const COMPLETED = /"msg":"Completed backfill indexing across all chains","duration":([\d.]+)/;
const POLL_MS = 10;
const LIMIT_MS = 900_000;

export interface IndexRun {
  /** From the first look at the cached logs to the last row written. */
  readonly seconds: number;
  /** CPU time of the process in between, of all its threads. */
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

/** Indexes everything into a new schema, then stops. Takes logs from the database's cache where it has them. */
export function runIndex(settings: {
  readonly root: keyof typeof ROOTS;
  readonly schema: string;
  readonly databaseUrl: string;
  readonly chainsFile: string;
  readonly gatewayUrl: string;
}): Promise<IndexRun> {
  return onFreePort(async (port) => {
    const service = await startService({
      name: `ponder (${settings.root})`,
      command: process.execPath,
      args: [
        '--import',
        NATIVE_IMPORT,
        PONDER,
        'start',
        '--root',
        ROOTS[settings.root],
        '--schema',
        settings.schema,
        '--log-format',
        'json',
        '--port',
        String(port),
        '--hostname',
        '127.0.0.1',
      ],
      cwd: PROJECT_ROOT,
      env: {
        ...process.env,
        CHAINS_CONFIG: settings.chainsFile,
        DATABASE_URL: settings.databaseUrl,
        PONDER_GATEWAY_URL: settings.gatewayUrl,
        PONDER_CACHE_BYTES: String(CACHE_BYTES),
        PORT: String(port),
      },
      ready: STARTED,
      startTimeoutMs: 120_000,
    });
    try {
      return await measure(service);
    } finally {
      await service.stop();
    }
  });
}

async function measure(service: ServiceProcess): Promise<IndexRun> {
  const cpuBefore = cpuMsOf(service.pid);
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const duration = COMPLETED.exec(service.recentOutput())?.[1];
    if (duration !== undefined) {
      const cpuSeconds = (cpuMsOf(service.pid) - cpuBefore) / 1_000;
      return { seconds: Number(duration) / 1_000, cpuSeconds, peakMegabytes: peakMemoryOf(service.pid) / 2 ** 20 };
    }
    if (Date.now() > deadline) throw new Error(`indexing took more than ${LIMIT_MS} ms\n${service.recentOutput()}`);
    await sleep(POLL_MS);
  }
}
