import { expect, vi } from 'vitest';
import { commandsOf, processesOf } from '../../local/services/processes.fixture.ts';
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

/** Ends a part of a run, by its name and a text of its command, and waits until the run says so. */
export async function endPart(run: ServiceProcess, name: string, command: string): Promise<void> {
  process.kill(await untilRuns(run, command), 'SIGKILL');
  await vi.waitFor(() => expect(run.recentOutput()).toMatch(`ended  ${name}`), EVENTUALLY);
}

/** Waits for a part of a run, by a text of its command. @returns its process */
export const untilRuns = ({ pid }: ServiceProcess, command: string): Promise<number> =>
  vi.waitUntil(() => [...commandsOf(pid)].find(([, each]) => each.includes(command))?.[0], EVENTUALLY);

/** Kills a process that may have ended meanwhile, as a session of Postgres. */
function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
