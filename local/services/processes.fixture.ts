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
