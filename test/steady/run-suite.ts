import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startService } from '../../local/services/service-process.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { startLoad } from './load.ts';
import type { Run, RunResult } from './report.ts';

/** What one run of the suite is. */
export interface SuiteRun {
  /** For its files; removed by the caller. */
  readonly folder: string;
  readonly seed: number;
  readonly loaded: boolean;
  /** Further arguments of Vitest: which tests. */
  readonly args: readonly string[];
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Vitest ends its workers and services first. */
const STOP_LIMIT_MS = 20_000;

/**
 * Runs the suite once, files and tests of units in a random order; a run that says nothing of itself has failed with
 * its last lines.
 */
export async function runSuite({ folder, seed, loaded, args, signal }: SuiteRun): Promise<Run> {
  const startedAt = performance.now();
  const file = join(folder, 'result.json');
  await rm(file, { force: true });
  await using ends = new AsyncDisposableStack();
  if (loaded) ends.defer(await startLoad(folder));
  const suite = await startService({
    name: 'Vitest',
    command: process.execPath,
    args: [
      'node_modules/vitest/vitest.mjs',
      'run',
      `--reporter=${join(import.meta.dirname, 'run-reporter.ts')}`,
      ...args,
    ],
    cwd: PROJECT_ROOT,
    env: { ...process.env, PROPERTY_SEED: String(seed), FILE_ORDER: String(seed), STEADY_RESULT: file },
    ready: async () => true,
    stopTimeoutMs: STOP_LIMIT_MS,
  });
  ends.defer(suite.stop);
  const stop = () => void suite.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const how = await suite.ended;
  signal.removeEventListener('abort', stop);
  const result = await readFile(file, 'utf8').then(
    (text): RunResult => JSON.parse(text),
    () => NO_RESULT,
  );
  const whole = { seed, loaded, ms: performance.now() - startedAt, ...result };
  if (how === 'exit code 0' && result !== NO_RESULT) return whole;
  if (result.failures.length > 0) return whole;
  const message = suite.recentOutput().trim().split('\n').slice(-LAST_LINES).join('\n');
  return { ...whole, failures: [{ path: '', test: `Vitest ended by ${how}`, message }] };
}

const LAST_LINES = 12;
const NO_RESULT: RunResult = { counts: { passed: 0, failed: 0, skipped: 0 }, files: [], failures: [] };
