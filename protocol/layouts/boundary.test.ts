import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT, productionSources } from '../../test/harness/production-sources.ts';

/** The files that name the layouts of this build. */
const REGISTERS = ['protocol/layouts/adapters.ts', 'protocol/layouts/event-layouts.ts'];
const LAYOUT_FOLDER = /^protocol\/layouts\/([^/]+)\//;

const sources = productionSources().filter((path) => !/\.(arbitrary|fixture)\.ts$/.test(path));

function importsOf(path: string): string[] {
  const text = readFileSync(join(PROJECT_ROOT, path), 'utf8');
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
