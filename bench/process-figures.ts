import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from '../test/operations/scrape.ts';

/** Clock ticks of the kernel's figures: 100 a second on Linux. */
const MS_PER_TICK = 10;
/** Places in `/proc/<pid>/stat` after the name in brackets. */
const OWN = [11, 12];
const OWN_AND_ENDED_CHILDREN = [...OWN, 13, 14];
const SCRAPE_MS = 1_000;
/** The loop's delay is measured by a timer of twice this, which it includes: the stall is this much less or more. */
const TIMER_MS = 10;

/** CPU time that a process and its children have used so far, milliseconds. */
export function cpuMsOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const ofChildren = children.reduce((sum, child) => sum + ticksOf(Number(child), OWN), 0);
  return (ticksOf(pid, OWN_AND_ENDED_CHILDREN) + ofChildren) * MS_PER_TICK;
}

/** Zero for a process that has just ended: its parent counts it from then on. */
function ticksOf(pid: number, places: readonly number[]): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return places.reduce((sum, place) => sum + Number(fields[place]), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Memory that a process holds in RAM, bytes. */
export const memoryOf = (pid: number): number => statusBytes(pid, 'VmRSS');

/** Most memory that a process has held in RAM, bytes. */
export const peakMemoryOf = (pid: number): number => statusBytes(pid, 'VmHWM');

function statusBytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1_024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}

/** Longest stall of the event loop of one of our processes while the work is done, milliseconds. */
export async function longestStall(url: string, work: () => Promise<void>): Promise<number> {
  const lagMs = async () => ((await scrape(url)).sum('nodejs_eventloop_lag_max_seconds') ?? 0) * 1_000 - TIMER_MS;
  await lagMs(); // Restarts with each measurement.
  let longest = 0;
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await Promise.race([done.catch(() => undefined), sleep(SCRAPE_MS)]);
    longest = Math.max(longest, await lagMs());
  }
  await done;
  return longest;
}
