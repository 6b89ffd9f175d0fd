import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

/** Of the rule in CONTRIBUTING.md, "SQL". */
const FOLDERS = ['api', 'builders', 'capture', 'cli', 'db', 'quoting'];
/** They compose statements while they run, of what is named here. */
const COMPOSERS = {
  'api/listing/listing-sql.ts': 'filters and orders of requests',
  'capture/fiat/refresh-prices.ts': 'columns of a view, as the schema types them',
  'capture/listing/pool-facts.ts': 'columns of views, as the schema types them, and all running totals',
  'cli/export/rows-sql.ts': 'views and their columns',
  'db/migrate.ts': 'files of migrations',
  'db/write-rows.ts': 'rows of any table',
  'quoting/pools/catalog-rows.ts': 'columns that three statements share',
};
const SQL_IN_CODE = [
  /(?<!\bsql(?:<[^`]*>)?)`\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE|DECLARE|FETCH|CREATE)\s/,
  /(['"])(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b(?:(?!\1).)*\b(?:FROM|INTO|SET)\b/,
  /\.execute(?:<[^(]*>)?\(\s*sql`/,
  /\b(?:inner|left|right|full)Join\(/,
];

const paths = FOLDERS.flatMap((folder) =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
);
const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const sources = paths.filter((path) => /(?<!\.(?:test|fixture))\.ts$/.test(path));

test('only files that compose statements hold SQL of several tables', () => {
  const found = sources.filter((path) => SQL_IN_CODE.some((pattern) => pattern.test(textOf(path))));
  expect(found.sort()).toEqual(Object.keys(COMPOSERS));
});

test('each SQL file is loaded once, by a module next to it, and keeps its name in dist/', () => {
  const loaded = sources.flatMap((path) =>
    [...textOf(path).matchAll(/'\.\/([\w-]+\.sql)',\s*import\.meta\.url/g)].map(([, file = '']) =>
      join(path, '..', file),
    ),
  );
  const files = paths.filter((path) => path.endsWith('.sql'));
  expect(loaded.sort()).toEqual(files.sort());
  expect(new Set(files.map((path) => basename(path))).size).toBe(files.length);
});
