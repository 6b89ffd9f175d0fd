import { afterEach, aroundAll, inject, type TestError, vi } from 'vitest';
import { describeWait } from './describe-wait.ts';
import { describeProcesses, watchProcesses } from './started-processes.ts';

/* Whatever fails says what was waited for and how long, on which load and beside which processes. */

declare module 'vitest' {
  interface ProvidedContext {
    /** How often waits of a project look, where that is not Vitest's default. */
    waitIntervalMs?: number;
  }
}

/** What real processes take on a busy machine: a wait names its limit only where it needs a longer one. */
const LIMIT_MS = 30_000;
/** That of tests may stand still. */
const now = performance.now.bind(performance);

/** The same wait with a generous limit, whose failure says what it was for. */
function explained(plain: typeof vi.waitFor): typeof vi.waitFor {
  const waiting: typeof vi.waitFor = async (holds, options = {}) => {
    const caller = { stack: '' };
    Error.captureStackTrace(caller, waiting);
    const startedAt = now();
    try {
      return await plain(holds, {
        timeout: LIMIT_MS,
        interval: inject('waitIntervalMs') ?? 50,
        ...(typeof options === 'number' ? { timeout: options } : options),
      });
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      error.message += `\n${describeWait(holds, now() - startedAt)}`;
      if (/^Timed out/.test(error.message)) error.stack = caller.stack;
      throw error;
    }
  };
  return waiting;
}

vi.waitFor = explained(vi.waitFor);
vi.waitUntil = explained(vi.waitUntil as typeof vi.waitFor) as typeof vi.waitUntil;

function explain(errors: readonly TestError[] = []): void {
  const [error] = errors;
  if (error && !/\nload average /.test(error.message)) error.message += `\n${describeProcesses()}`;
}

export function beforeFile(): void {
  const unwatch = watchProcesses();
  afterEach(({ task }) => explain(task.result?.errors));
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it which fixtures are used.
  aroundAll(async (runFile, {}, file) => {
    await runFile();
    unwatch();
    explain(file.result?.errors);
  });
}
