import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CACHE_BYTES } from '../../indexer/cache-size.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const PONDER = fileURLToPath(new URL('./bin/ponder.js', import.meta.resolve('ponder')));
const NATIVE_IMPORT = new URL('./native-import.mjs', import.meta.url).href;

/** Ponder projects that are compared: the same contracts and tables, other handlers. */
export const ROOTS = { real: 'dist/ponder', empty: 'bench/indexing/empty' } as const;

const STARTED = /"msg":"Started backfill indexing"/;
const COMPLETED = /"msg":"Completed backfill indexing across all chains","duration":([\d.]+)/;
const POLL_MS = 10;
const LIMIT_MS = 900_000;
/** Linux accounts for CPU time in these. */
const TICKS_PER_SECOND = 100;

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
  const cpuBefore = cpuSeconds(service.pid);
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const duration = COMPLETED.exec(service.recentOutput())?.[1];
    if (duration !== undefined) {
      const cpu = cpuSeconds(service.pid) - cpuBefore;
      return { seconds: Number(duration) / 1_000, cpuSeconds: cpu, peakMegabytes: peakMegabytes(service.pid) };
    }
    if (Date.now() > deadline) throw new Error(`indexing took more than ${LIMIT_MS} ms\n${service.recentOutput()}`);
    await sleep(POLL_MS);
  }
}

/** CPU time that a process has used, in user and in kernel mode. */
function cpuSeconds(pid: number): number {
  // The name, in parentheses, may hold spaces; of what follows it, the 12th and 13th fields are the times.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Most memory that a process has held, from Linux's own account of it. */
function peakMegabytes(pid: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) / 1_024;
}
