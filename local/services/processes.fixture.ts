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

/** A process and all below it. */
export function processesOf(root: number): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const children = Map.groupBy(
    rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]),
    ([, parent]) => parent,
  );
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(([child]) => below(child))];
  return below(root);
}
