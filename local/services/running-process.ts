import { readFile } from 'node:fs/promises';

/** What tells a running process from a later one of the same number. Only Linux says it. */
export interface RunningProcess {
  readonly name?: string;
  /** Ticks since the system came up. */
  readonly startedAt?: string | undefined;
}

/** The process of this number; null when it has ended, even if its parent never waited for it. */
export async function runningProcess(pid: number): Promise<RunningProcess | null> {
  if (process.platform !== 'linux') {
    try {
      process.kill(pid, 0);
      return {};
    } catch {
      return null; // No such process.
    }
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name, rest = ''] = /\((.*)\) (.*)/.exec(stat) ?? [];
  const fields = rest.split(' ');
  return name === undefined || fields[0] === 'Z' ? null : { name, startedAt: fields[19] };
}
