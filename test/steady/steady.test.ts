import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isAlive, processesOf } from '../../local/services/processes.fixture.ts';
import { startService } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** Of two runs of Vitest, the second one beside load. */
const LIMIT_MS = 120_000;
/** Without what says that this is a worker of Vitest. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));

/** A run of the tool over one file, in a folder of its own. */
async function steady(content: string, args: readonly string[]) {
  const { path, remove } = await createTempFolder('steady-test');
  onTestFinished(remove);
  await writeFile(join(path, 'small.test.js'), content);
  const suite = ['--root', path, '--globals', '--pool=forks'];
  const started = (ready: () => Promise<boolean>) =>
    startService({
      name: 'test:steady',
      command: process.execPath,
      args: ['--import', 'tsx', 'test/steady/main.ts', ...args, ...suite],
      cwd: PROJECT_ROOT,
      env: { ...ENVIRONMENT, TMPDIR: path },
      ready,
      startTimeoutMs: LIMIT_MS,
    });
  return { path, started };
}

test('a test that fails by chance is named with its seeds, and the run repeats with one', async () => {
  const flaky = `
    test('holds', () => {});
    test('draws an even number', () => expect(process.env.PROPERTY_SEED % 2).toBe(0));`;
  const { started } = await steady(flaky, ['--seed', '7', '2']);
  const run = await started(async () => true);
  expect(await run.ended).toBe('exit code 1');
  const lines = run.recentOutput().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^run 1, seed 7, calm: 1 passed, 1 failed, \d+ s$/),
      expect.stringMatching(/^run 2, seed 8, beside load: 2 passed, 0 failed, \d+ s$/),
      '1 of 2 runs failed',
      'small.test.js: draws an even number: 1 of 2 runs, seed 7 (calm)',
      '    Repeat: PROPERTY_SEED=7 FILE_ORDER=7 npx vitest run small.test.js',
      expect.stringMatching(/^ +\d+\.\d s {2}100\.0% {2}small\.test\.js$/),
    ]),
  );

  const { started: again } = await steady(flaky, ['--seed', '8', '1']);
  const passed = await again(async () => true);
  expect(await passed.ended).toBe('exit code 0');
  expect(passed.recentOutput()).toContain('0 of 1 runs failed\n');
});

test('a suite that cannot run has failed', async () => {
  const { started } = await steady('throw new Error("no tests today");', ['1']);
  const run = await started(async () => true);
  expect(await run.ended).toBe('exit code 1');
  expect(run.recentOutput()).toMatch(/small\.test\.js: the file itself: 1 of 1 runs.*\n {4}no tests today/);
});

/** Passes once, then waits for ever, beside load and a process of its own. */
const ENDLESS = `
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  test('waits in the second run', async () => {
    if (process.env.PROPERTY_SEED % 2 === 1) return;
    const { pid } = spawn('sleep', ['600']);
    writeFileSync(new URL('pids', import.meta.url), \`\${process.pid} \${pid}\`);
    await new Promise(() => {});
  }, 600_000);`;

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'nothing is left after %s',
  { timeout: 2 * LIMIT_MS },
  async (signal) => {
    const { path, started } = await steady(ENDLESS, ['--seed', '7', '3']);
    const written = () => readFile(join(path, 'pids'), 'utf8').catch(() => '');
    const run = await started(async () => (await written()) !== '');
    const own = (await written()).split(' ').map(Number);
    const all = processesOf(run.pid);
    expect(all).toEqual(expect.arrayContaining(own));
    // Itself, its watchdog, Vitest, a worker and what that started, and three of load.
    expect(all.length).toBeGreaterThanOrEqual(8);
    process.kill(run.pid, signal);
    expect(await run.ended).toBe(signal === 'SIGKILL' ? 'signal SIGKILL' : 'exit code 1');
    if (signal !== 'SIGKILL') expect(run.recentOutput()).toContain('stopped after 1 of 3 runs\n');
    await vi.waitFor(() => expect(all.filter(isAlive)).toEqual([]));
  },
);
