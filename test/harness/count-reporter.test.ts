import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const REPORTER = join(import.meta.dirname, 'count-reporter.ts');
const VITEST = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'count-reporter-'));
});
afterEach(() => rm(folder, { recursive: true }));

test.each([
  ['all pass', 'test("a", () => {}); test("b", () => {});', '2 passed, 0 failed', 0],
  ['one fails', 'test("a", () => {}); test("b", () => { throw new Error("no"); });', '1 passed, 1 failed', 1],
  [
    'some are skipped',
    'test("a", () => {}); test.skip("b", () => {}); test.todo("c");',
    '1 passed, 0 failed, 2 skipped',
    0,
  ],
  ['the file is broken', 'throw new Error("no");', '0 passed, 1 failed', 1],
  ['a rejection is not awaited', 'test("a", () => { Promise.reject(new Error("no")); });', '1 passed, 1 failed', 1],
])('the last line of a run is the count: %s', async (_case, source, line, exitCode) => {
  await writeFile(join(folder, 'a.test.js'), source);
  const run = await runVitest();
  expect(run.output.trimEnd().split('\n').at(-1)).toBe(line);
  expect(run.exitCode).toBe(exitCode);
});

/** A real run, in a process of its own, of the tests in the folder. */
function runVitest(): Promise<{ exitCode: unknown; output: string }> {
  const args = [VITEST, 'run', '--root', folder, '--globals', '--reporter=default', `--reporter=${REPORTER}`];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout) => resolve({ exitCode: error ? error.code : 0, output: stdout }));
  });
}
