import type { Reporter, TestModule } from 'vitest/node';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A run in one line: `12 passed, 0 failed`, with `, 3 skipped` when there are some. */
function formatCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Makes the counts the very last line of a run: it prints when the process exits, after every other reporter. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = countTests(modules, unhandledErrors.length);
    process.once('exit', () => process.stdout.write(`${formatCounts(counts)}\n`));
  }
}

/** A file that failed outside its tests, as by an import, and an unhandled error count as one failure each. */
export function countTests(modules: readonly TestModule[], unhandledErrors: number): Counts {
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
  const count = (...wanted: string[]) => states.filter((state) => wanted.includes(state)).length;
  const brokenFiles = modules.filter((module) => module.state() === 'failed' && !hasFailedTest(module)).length;
  return {
    passed: count('passed'),
    failed: count('failed') + brokenFiles + unhandledErrors,
    skipped: count('skipped', 'pending'),
  };
}

function hasFailedTest(module: TestModule): boolean {
  return [...module.children.allTests()].some((test) => test.result().state === 'failed');
}
