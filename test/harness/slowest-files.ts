import type { Reporter, TestModule } from 'vitest/node';

/** Files that are named; a run of no more files names none. */
const NAMED_FILES = 10;

/** Wall-clock time of a test file: its imports, hooks and tests. */
export interface FileTime {
  readonly path: string;
  readonly ms: number;
}

/** The slowest files, slowest first, a line each: `  12.3 s  test/scale/scale.test.ts`. Empty when the run has few files. */
export function formatSlowest(files: readonly FileTime[]): string {
  if (files.length <= NAMED_FILES) return '';
  const slowest = files.toSorted((one, other) => other.ms - one.ms).slice(0, NAMED_FILES);
  const lines = slowest.map(({ path, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${path}\n`);
  return `Slowest files:\n${lines.join('')}`;
}

/** Names the files that are worth making faster, at the end of a run. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    process.stdout.write(formatSlowest(modules.map(timeOf)));
  }
}

function timeOf(module: TestModule): FileTime {
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  return { path: module.relativeModuleId, ms: setupDuration + collectDuration + duration };
}
