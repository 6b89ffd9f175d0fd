import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createTempFolder } from '../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

const IMPORT = /from ['"]((?:viem|kysely|drizzle-orm)(?:[/][^'"]+)?)['"]/g;

function importsOf(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'));
  const texts = paths.map((path) => readFileSync(join(folder, path), 'utf8'));
  return texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, name = '']) => name));
}

test('a package that Ponder imports by several names is bundled under each: it would be there twice', () => {
  const imported = ['ponder/dist/esm', '@ponder/utils/dist'].flatMap((path) =>
    importsOf(join(PROJECT_ROOT, 'node_modules', path)),
  );
  expect(imported.length).toBeGreaterThan(50);
  const folder = join(PROJECT_ROOT, 'dist/packages');
  const bundled = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const missing = [...new Set(imported)].filter((name) => !bundled.includes(`${name}.mjs`));
  expect(missing).toEqual([]);
});

test('a name that has a bundle comes from it, others from where they are', async () => {
  const { path, remove } = await createTempFolder('bundled');
  onTestFinished(remove);
  await mkdir(join(path, 'viem'));
  await writeFile(join(path, 'viem/chains.mjs'), "export const bundled = 'yes';");
  const script = `
    import { resolveBundledPackages } from './indexer/bundled-packages.ts';
    resolveBundledPackages(process.argv[1]);
    const { bundled } = await import('viem/chains');
    const { parse } = await import('yaml');
    console.log(bundled, typeof parse);`;
  const args = ['--input-type=module', '-e', script, path];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT_ROOT });
  expect(stdout).toBe('yes function\n');
});
