import { spawnSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { processesOf } from '../../local/services/processes.fixture.ts';
import type { ServiceProcess } from '../../local/services/service-process.ts';
import { EVENTUALLY } from '../harness/local-service.ts';

/* How processes of `npm start` end in tests: without a chance to do anything about it. */

/** All processes of a run, the watchdog of its services included. */
export async function endAllAtOnce({ pid, ended }: ServiceProcess): Promise<void> {
  const pids = processesOf(pid);
  expect(pids.length).toBeGreaterThanOrEqual(7);
  for (const each of pids) endNow(each);
  await ended;
}

/** Ends capture and Postgres, which the run starts again. */
export async function endParts(run: ServiceProcess, data: string): Promise<void> {
  // Postgres says every ten seconds how long it recovers, and here every ten milliseconds.
  await appendFile(join(data, 'postgres/data/postgresql.auto.conf'), 'log_startup_progress_interval = 10\n');
  await endPart(run, 'capture', 'dist/capture.mjs');
  await endPart(run, 'postgres', 'bin/postgres -D');
}

/** Ends a part of a run, by its name and a text of its command, and waits until the run says so. */
export async function endPart({ pid, recentOutput }: ServiceProcess, name: string, command: string): Promise<void> {
  const part = await vi.waitUntil(() => processesOf(pid).find((it) => commandOf(it).includes(command)), EVENTUALLY);
  process.kill(part, 'SIGKILL');
  await vi.waitFor(() => expect(recentOutput()).toMatch(`ended  ${name}`), EVENTUALLY);
}

/** Kills a process that may have ended meanwhile, as a session of Postgres. */
function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Empty when the process has ended meanwhile. */
const commandOf = (pid: number): string =>
  spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
