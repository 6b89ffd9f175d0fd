import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runningProcess } from './running-process.ts';
import { ServiceError } from './service-error.ts';

/** Longer than the watchdog of a run that was killed takes to end its Postgres. */
const WAIT_MS = 10_000;
const POLL_MS = 100;

/**
 * Makes way for a Postgres on a data folder that another one has used. A server that still ends is waited for. One that
 * has ended may seem to run, for Postgres asks only whether its number is taken: by an unrelated process after a
 * reboot, or by a process that its parent never waited for, as in a container without init. Then the lock file gets the
 * number of this process: Postgres takes its parent's for none,
 * and still looks whether processes of the old server use its memory.
 *
 * @throws ServiceError another server uses the folder
 */
export async function awaitLock(data: string): Promise<void> {
  const path = join(data, 'postmaster.pid');
  for (const deadline = Date.now() + WAIT_MS; ; ) {
    const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n');
    const pid = Number(lines[0]);
    if (!pid) return;
    if (!(await isPostgres(pid))) return writeFile(path, lines.with(0, String(process.pid)).join('\n'));
    if (Date.now() > deadline) throw new ServiceError(`${data} is in use by process ${pid}`);
    await sleep(POLL_MS);
  }
}

/** Whether this is a running Postgres. Where the system does not say, a process of that number is taken for one. */
async function isPostgres(pid: number): Promise<boolean> {
  const found = await runningProcess(pid);
  return found !== null && (found.name ?? 'postgres') === 'postgres';
}
