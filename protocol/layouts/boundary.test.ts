import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { productionSources } from '../../test/harness/production-sources.ts';

/** Where layouts are registered: the only files that import from the folder of one. */
const REGISTERS = ['protocol/layouts/adapters.ts', 'protocol/layouts/event-layouts.ts'];
/**
 * Files outside of the folders of layouts that name one. A layout whose events say what those of `flat` or `packed` do
 * edits the registers alone; the others are about what only packed pools log,
 * and what the packed layout lets an operator say.
 */
const NAMING = [
  ...REGISTERS,
  'config/chains-schema.ts',
  'indexer/registration/pools.ts',
  'capture/listing/extensions.ts',
  'capture/listing/known-state.ts',
  'config/removed-settings.ts',
  'indexer/handlers/open-swaps.ts',
  'indexer/handlers/packed-trading.ts',
  'indexer/publication/view-queries.ts',
  'indexer/reducers/packed-swap.ts',
  'protocol/pool-events.ts',
  'protocol/pool-totals.ts',
];
const LAYOUT_FOLDER = /^protocol\/layouts\/([^/]+)\//;
/** `'flat'`, `FlatPool`, `packed_bins`, `.packed`, `packed-pool`; not `flatMap`, nor what is packed into bytes. */
const LAYOUT_NAME = /'(flat|packed)'|\.packed\b|(?<![A-Za-z])([fF]lat(?!Map\b)|[pP]acked)(?=[A-Z_]|-[a-z])/;

const sources = productionSources().filter((path) => !/\.(arbitrary|fixture)\.ts$/.test(path));
const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const codeOf = (path: string) => textOf(path).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

function importsOf(path: string): string[] {
  return [...textOf(path).matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, target]) =>
    join(dirname(path), target ?? ''),
  );
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

test('no other file names a layout', () => {
  const naming = sources.filter((path) => !LAYOUT_FOLDER.test(path) && LAYOUT_NAME.test(codeOf(path)));
  expect(naming.toSorted()).toEqual(NAMING.toSorted());
});
