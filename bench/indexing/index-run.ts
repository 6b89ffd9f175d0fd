import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onFreePort } from '../../devnet/services/free-port.ts';
import { startService } from '../../devnet/services/service-process.ts';

const PONDER = fileURLToPath(new URL('./bin/ponder.js', import.meta.resolve('ponder')));
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** Ponder projects that are compared: the same sources and tables, other handlers. */
export const ROOTS = { real: 'indexer', empty: 'bench/indexing/empty' } as const;

const COMPLETED = /"msg":"Completed backfill indexing across all chains","duration":([\d.]+)/;

export interface IndexRun {
  /** From the first look at the cached logs to the last row written. */
  readonly seconds: number;
  readonly peakMegabytes: number;
}

/** Indexes everything into a new schema, then stops. Takes logs from the database's cache where it has them. */
export function runIndex(settings: {
  readonly root: keyof typeof ROOTS;
  readonly schema: string;
  readonly databaseUrl: string;
  readonly chainsFile: string;
}): Promise<IndexRun> {
  return onFreePort(async (port) => {
    const service = await startService({
      name: `ponder (${settings.root})`,
      command: process.execPath,
      args: [
        ...[PONDER, 'start', '--root', ROOTS[settings.root], '--schema', settings.schema],
        ...['--log-format', 'json', '--port', String(port), '--hostname', '127.0.0.1'],
      ],
      cwd: PROJECT,
      env: {
        ...process.env,
        CHAINS_CONFIG: settings.chainsFile,
        DATABASE_URL: settings.databaseUrl,
        PONDER_TELEMETRY_DISABLED: '1',
        PORT: String(port),
      },
      ready: COMPLETED,
      startTimeoutMs: 600_000,
    });
    const peakMegabytes = peakMemory(service.pid);
    const duration = COMPLETED.exec(service.recentOutput())?.[1];
    await service.stop();
    return { seconds: Number(duration) / 1_000, peakMegabytes };
  });
}

/** Most memory that a process has held, from Linux's own account of it. */
function peakMemory(pid: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) / 1_024;
}
