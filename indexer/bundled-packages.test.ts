import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createTempFolder } from '../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

const IMPORT = /^(?:import|export|\}).*? from "([^"./$][^"]*)";$/gm;

test('bundles of Ponder have all packages that they import, without Vite and a second database', () => {
  const folder = join(PROJECT_ROOT, 'dist/packages');
  const bundles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.mjs'));
  expect(bundles).toEqual(expect.arrayContaining(['ponder.mjs', 'ponder/command.mjs', 'ponder/registry.mjs']));
  const texts = bundles.map((path) => readFileSync(join(folder, path), 'utf8'));
  const imported = texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, name = '']) => name));
  expect(imported.length).toBeGreaterThan(10);
  expect(imported.filter((name) => !isBuiltin(name))).toEqual([]);
  const packages: readonly string[] = JSON.parse(readFileSync(join(PROJECT_ROOT, 'dist/packages.json'), 'utf8'));
  expect(packages.filter((path) => /\/(vite|vite-node|pglite)$/.test(path))).toEqual([]);
});

test('bundles have of undici what sends requests', () => {
  const folder = join(PROJECT_ROOT, 'dist');
  const texts = readdirSync(folder).flatMap((name) =>
    name.endsWith('.mjs') ? readFileSync(join(folder, name), 'utf8') : [],
  );
  const files = texts.flatMap(
    (text) => text.match(/(?<=node_modules[/]undici[/]lib[/])(dispatcher|mock|web)[/][a-z/-]+[.]js/g) ?? [],
  );
  expect(files).toContain('dispatcher/agent.js');
  expect(files).not.toContain('mock/mock-agent.js');
  expect(files).not.toContain('web/websocket/websocket.js');
});

test('a name that has a bundle comes from it, others from where they are; files with the extension of TypeScript run', async () => {
  const { path, remove } = await createTempFolder('bundled');
  onTestFinished(remove);
  await mkdir(join(path, 'ponder'));
  await writeFile(join(path, 'ponder/registry.mjs'), "export const bundled = 'yes';");
  await writeFile(join(path, 'handlers.ts'), "export { bundled } from 'ponder:registry';");
  const script = `
    import { resolveBundledPackages } from './indexer/bundled-packages.ts';
    resolveBundledPackages(process.argv[1]);
    const { bundled } = await import(process.argv[1] + '/handlers.ts');
    const { parse } = await import('yaml');
    console.log(bundled, typeof parse);`;
  const args = ['--input-type=module', '-e', script, path];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT_ROOT });
  expect(stdout).toBe('yes function\n');
});
