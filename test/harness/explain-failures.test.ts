import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const path = (name: string) => JSON.stringify(join(PROJECT_ROOT, name));
const DYING = `startService({ name: 'it', command: 'sh', args: ['-c', 'echo its reason; exit 4'], ready: /never/ })`;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explain-failures-'));
  const setup = `{ test: { globals: true, setupFiles: [${path('test/harness/explain-failures.ts')}] } }`;
  await writeFile(join(folder, 'vitest.config.js'), `export default ${setup};`);
});
afterEach(() => rm(folder, { recursive: true }));

/** What a real run of one file prints. */
async function outputOf(source: string): Promise<string> {
  const imports = `import { startService } from ${path('local/services/service-process.ts')};
    import { startServer } from ${path('runtime/http-server.ts')};
    import { eventually } from ${path('test/pamm/eventually.ts')};`;
  await writeFile(join(folder, 'a.test.js'), `${imports}\n${source}`);
  const vitest = join(PROJECT_ROOT, 'node_modules/vitest/vitest.mjs');
  const run = await execa(process.execPath, [vitest, 'run', '--root', folder], { all: true, reject: false });
  expect(run.exitCode).toBe(1);
  return stripVTControlCharacters(run.all);
}

const LOAD = /^load average \d/m;
const LAST_LINES = /^process \d+, it sh -c .*, ended \d[.]\d s ago by exit code 4\n {4}its reason$/m;

test.each([
  [
    'vi.waitUntil',
    'vi.waitUntil(() => nothing.length > 0, 200)',
    /^waited 0[.]\d s for \(\) => nothing[.]length > 0$/m,
  ],
  ['vi.waitFor', 'vi.waitFor(() => expect(nothing).toBe(7), 200)', /^waited 0[.]\d s for \(\) => expect\(nothing\)/m],
  [
    'eventually',
    'eventually(() => nothing.length > 0, 200)',
    /^Error: waited 0[.]2 s for \(\) => nothing[.]length > 0$/m,
  ],
  ['expect.poll', 'expect.poll(() => nothing, { timeout: 200 }).toBe(7)', /^AssertionError: expected \[\] to be 7/m],
])('a wait that never comes says what it was for, how long, on which load: %s', async (_name, wait, said) => {
  const output = await outputOf(`const nothing = []; test('it', async () => {\nawait ${wait} });`);
  expect(output).toMatch(said);
  expect(output).toMatch(LOAD);
  // It shows its place.
  expect(output).toMatch(/❯ a[.]test[.]js:5:/);
});

test.each([
  ['at its start', `test('it', async () => { await ${DYING}; });`],
  ['at the start of a world', `beforeAll(async () => { await ${DYING}; }); test('it', () => undefined);`],
  ['before something else fails', `test('it', async () => { await ${DYING}.catch(() => 0); expect(1).toBe(2); });`],
  [
    'before a test runs into its limit',
    `test('a', () => ${DYING}.catch(() => 0)); test('b', { timeout: 200 }, () => new Promise(() => 0));`,
  ],
])('a process that dies has its last lines in the failure: %s', async (_when, source) => {
  const output = await outputOf(source);
  expect(output).toMatch(LAST_LINES);
  expect(output).toMatch(LOAD);
});

test('a port in use is named by the last lines of the process that wanted it', async () => {
  const server = `require('http').createServer().listen(process.argv[1], '127.0.0.1')`;
  const output = await outputOf(`test('it', async () => {
    const { port } = await startServer({ fetch: () => 0 }, '127.0.0.1', 0);
    const args = ['-e', ${JSON.stringify(server)}, String(port)];
    await startService({ name: 'server', command: process.execPath, args, ready: /never/ });
  });`);
  expect(output).toMatch(
    /^process \d+, server .* by exit code 1\n( {4}.*\n)* {4}.*address already in use 127[.]0[.]0[.]1:\d+$/m,
  );
  expect(output).toMatch(LOAD);
});
