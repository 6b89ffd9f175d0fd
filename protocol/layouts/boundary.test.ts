import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PRODUCTION = [
  'api',
  'builders',
  'capture',
  'chain',
  'cli',
  'client',
  'config',
  'db',
  'indexer',
  'protocol',
  'runtime',
];
/** The files that name the layouts of this build. */
const REGISTERS = ['protocol/layouts/adapters.ts', 'protocol/layouts/event-layouts.ts'];
const LAYOUT_FOLDER = /^protocol\/layouts\/([^/]+)\//;

const isProduction = (path: string) => path.endsWith('.ts') && !/\.(test|arbitrary|fixture)\.ts$/.test(path);

const sources = [
  'ponder.config.ts',
  ...PRODUCTION.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ),
].filter(isProduction);

function importsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [...text.matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, target]) => join(dirname(path), target ?? ''));
}

test('only the registers of layouts import from the folder of one', () => {
  const intruders = sources
    .filter((path) => !REGISTERS.includes(path))
    .flatMap((path) => importsOf(path).map((target) => ({ path, target })))
    .filter(({ path, target }) => {
      const layout = LAYOUT_FOLDER.exec(target)?.[1];
      return layout !== undefined && LAYOUT_FOLDER.exec(path)?.[1] !== layout;
    });
  expect(intruders).toEqual([]);
  expect(sources.length).toBeGreaterThan(300);
});
