import type { Reporter, TestModule } from 'vitest/node';

/** Files that are named; a run of no more files names none. */
const NAMED_FILES = 10;

/** What a test file takes. */
export interface FileTime {
  readonly path: string;
  /** Wall-clock time: its imports, hooks and tests. */
  readonly ms: number;
  /** CPU time of its hooks and tests, and of the processes that they started. */
  readonly cpuMs: number;
}

/**
 * The slowest files, slowest first, a line each: `  12.3 s,   4.5 s of CPU time  test/scale/scale.test.ts`.
 * Empty when the run has few files.
 */
export function formatSlowest(files: readonly FileTime[]): string {
  if (files.length <= NAMED_FILES) return '';
  const slowest = files.toSorted((one, other) => other.ms - one.ms).slice(0, NAMED_FILES);
  const lines = slowest.map(({ path, ms, cpuMs }) => `${secs(ms)},${secs(cpuMs)} of CPU time  ${path}\n`);
  const cpu = files.reduce((sum, file) => sum + file.cpuMs, 0);
  return `Slowest files, of ${Math.round(cpu / 1_000)} s of CPU time in all:\n${lines.join('')}`;
}

const secs = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(6)} s`;

/** Names the files that are worth making faster, at the end of a run. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    process.stdout.write(formatSlowest(modules.map(timeOf)));
  }
}

export function timeOf(module: TestModule): FileTime {
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  const { cpuMs = 0 } = module.meta();
  return { path: module.relativeModuleId, ms: setupDuration + collectDuration + duration, cpuMs };
}
