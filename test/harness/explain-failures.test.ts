import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { openWorld } from './open-world.ts';

const path = (name: string) => JSON.stringify(join(PROJECT_ROOT, name));
const IMPORTS = `import { startService } from ${path('local/services/service-process.ts')};
import { startServer } from ${path('runtime/http-server.ts')};
import { eventually } from ${path('test/pamm/eventually.ts')};
const die = () => startService({ name: 'it', command: 'sh', args: ['-c', 'echo its reason; exit 4'], ready: /never/ });`;
const TESTS = `
const nothing = [];
test('vi.waitUntil', async () => {
  await vi.waitUntil(() => nothing.length > 0, 200);
});
test('vi.waitFor', () => vi.waitFor(() => expect(nothing).toBe(7), 200));
test('eventually', () => eventually(() => nothing.length > 0, 200));
test('expect.poll', () => expect.poll(() => nothing, { timeout: 200 }).toBe(7));
test('start', die);
test('later', async () => {
  await die().catch(() => undefined);
  expect(1).toBe(2);
});
test('limit', { timeout: 200 }, () => new Promise(() => undefined));
test('port', async () => {
  const { port } = await startServer({ fetch: () => undefined }, '127.0.0.1', 0);
  const args = ['-e', "require('http').createServer().listen(process.argv[1], '127.0.0.1')", String(port)];
  await startService({ name: 'server', command: process.execPath, args, ready: /never/ });
});`;
const WORLD_TEST = `
beforeAll(async () => {
  await die();
});
test('it', () => undefined);`;

/** What one real run prints of each test that fails, by the name of the test or file. */
const printed = openWorld(async (ends) => {
  const folder = await mkdtemp(join(tmpdir(), 'explain-failures-'));
  ends.defer(() => rm(folder, { recursive: true }));
  const loads = `experimental: { viteModuleRunner: false }, runner: ${path('test/harness/file-runner.ts')}`;
  const setup = `setupFiles: [${path('test/harness/explain-failures.ts')}], globals: true, testTimeout: 60_000`;
  await writeFile(join(folder, 'vitest.config.js'), `export default { test: { ${loads}, ${setup} } };`);
  await writeFile(join(folder, 'a.test.js'), IMPORTS + TESTS);
  await writeFile(join(folder, 'world.test.js'), IMPORTS + WORLD_TEST);
  const vitest = join(PROJECT_ROOT, 'node_modules/vitest/vitest.mjs');
  const run = await execa(process.execPath, [vitest, 'run', '--root', folder], { all: true, reject: false });
  const parts = stripVTControlCharacters(run.all)
    .split(/^ FAIL +/m)
    .slice(1);
  return Object.fromEntries(parts.map((part) => [/^(?:a[.]test[.]js > )?(\S+)/.exec(part)?.[1], part]));
});

const LOAD = /^load average \d/m;

test.each([
  ['vi.waitUntil', /^waited \d[.]\d s for \(\) => nothing[.]length > 0$/m],
  ['vi.waitFor', /^waited \d[.]\d s for \(\) => expect\(nothing\)[.]toBe\(7\)$/m],
  ['eventually', /^Error: waited 0[.]2 s for \(\) => nothing[.]length > 0$/m],
  ['expect.poll', /^AssertionError: expected \[\] to be 7/m],
])('a wait that never comes says what it was for, how long and on which load: %s', (name, said) => {
  expect(printed[name]).toMatch(said);
  expect(printed[name]).toMatch(LOAD);
});

test('a wait that never comes shows its place', () => {
  expect(printed['vi.waitUntil']).toMatch(/❯ a[.]test[.]js:7:12$/m);
});

test.each([
  ['start', 'at its start'],
  ['world.test.js', 'at the start of a world'],
  ['later', 'before something else fails'],
  ['limit', 'before a test runs into its limit'],
])('a process that dies has its last lines in the failure: %s, %s', (name) => {
  expect(printed[name]).toMatch(/^process \d+, it sh -c .*, ended \d+[.]\d s ago by exit code 4\n {4}its reason$/m);
  expect(printed[name]).toMatch(LOAD);
});

test('a port in use is named by the last lines of the process that wanted it', () => {
  const lines = /^process \d+, server .* by exit code 1\n( {4}.*\n)* {4}.*address already in use 127[.]0[.]0[.]1:\d+$/m;
  expect(printed.port).toMatch(lines);
});
