import { execFileSync } from 'node:child_process';

/** Whether a process runs; a zombie, which only waits for its parent to look, does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false; // No such process.
  }
}

/** A line of `ps`: the process, its parent and its command. */
const ROW = /^ *(\d+) +(\d+) (.*)$/gm;

/** Commands of a process and of all below it, from one call of `ps`, which costs as much for all as for one. */
export function commandsOf(root: number): ReadonlyMap<number, string> {
  const rows = [...execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).matchAll(ROW)];
  const children = Map.groupBy(rows, ([, , parent]) => Number(parent));
  const commands = new Map(rows.map(([, pid, , command = '']) => [Number(pid), command]));
  const below = (pid: number): number[] => [
    pid,
    ...(children.get(pid) ?? []).flatMap(([, child]) => below(Number(child))),
  ];
  return new Map(below(root).map((pid) => [pid, commands.get(pid) ?? '']));
}

/** A process and all below it. */
export const processesOf = (root: number): number[] => [...commandsOf(root).keys()];
