import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { aroundAll } from 'vitest';

/* What each file costs is named at the end of the run. */

declare module 'vitest' {
  interface TaskMeta {
    /** CPU time of a file: of its worker and of all processes that ended in it. */
    cpuMs?: number;
  }
}

const TICK_MS = 10;

/** Of processes that ended and whose end was seen, theirs included; 0 where the system does not say. */
function endedProcessesMs(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return TICK_MS * (Number(fields[13]) + Number(fields[14]));
  } catch {
    return 0;
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  // What ended in a thread's process are the workers of other files.
  return (user + system) / 1_000 + (isMainThread ? endedProcessesMs() : 0);
}

export function beforeFile(): void {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it which fixtures are used.
  aroundAll(async (runFile, {}, file) => {
    const before = cpuMs();
    await runFile();
    file.meta.cpuMs = cpuMs() - before;
  });
}
