import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { buildSync, transformSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What Ponder runs, and the tables. */
const ENTRIES = `import './indexer/src/registration.ts'; export * from './indexer/ponder.schema.ts';`;
/** The chains file counts by the values in Ponder's configuration, not by the code that reads it. */
const NOT_LOGIC = ['../config/*', '../../config/*'];

/**
 * A digest of what the handlers, the tables and all that they import do, however it is written: comments, types, layout,
 * names of variables and code that is not used do not count, nor do the versions of packages. Ponder itself compares only
 * the text of `src/` and of the schema module when it decides whether an index may be continued; with this in its
 * configuration, changed logic never goes on from rows that other logic wrote.
 *
 * @param root folder of the project, which does not count either
 */
export function logicHash(root: string = ROOT): string {
  const { outputFiles } = buildSync({
    stdin: { contents: ENTRIES, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    external: NOT_LOGIC,
    tsconfigRaw: {},
    legalComments: 'none',
  });
  const code = withFixedNames(outputFiles.map(({ text }) => text).join(''));
  return createHash('sha256').update(code).digest('hex').slice(0, 16);
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$';

/**
 * Minified names that depend on the code's structure alone. esbuild makes them of the letters that the text has most of,
 * names of variables included: here an unused text has so many of each that those of the code cannot change their order.
 */
function withFixedNames(code: string): string {
  const counts = Array.from(LETTERS, (letter) => code.split(letter).length - 1);
  const step = Math.max(...counts) + 1;
  const unused = Array.from(LETTERS, (letter, rank) => letter.repeat(rank * step)).join('');
  return transformSync(`${code}var unused="${unused}"`, { format: 'esm', minify: true, treeShaking: true }).code;
}
