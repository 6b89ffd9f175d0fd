import { readFileSync } from 'node:fs';

/** Clock ticks of the kernel's figures: 100 a second on Linux. */
const MS_PER_TICK = 10;
/** Places in `/proc/<pid>/stat` after the name in brackets. */
const PLACE = { user: 11, system: 12, childrenUser: 13, childrenSystem: 14 };

/** CPU time that a server and all its processes have used so far, milliseconds. */
export function serverCpuMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return ownTicks(pid, true) * MS_PER_TICK + children.reduce((sum, child) => sum + ownTicks(child), 0) * MS_PER_TICK;
}

/** Zero for a process that has just ended: its parent counts it from then on. */
function ownTicks(pid: number, withEndedChildren = false): number {
  const fields = statOf(pid);
  const at = (place: number) => Number(fields[place] ?? 0);
  const ended = withEndedChildren ? at(PLACE.childrenUser) + at(PLACE.childrenSystem) : 0;
  return at(PLACE.user) + at(PLACE.system) + ended;
}

function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Most memory that a process has held in RAM, bytes. */
export function peakMemory(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1_024;
}
